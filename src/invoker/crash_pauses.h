// CrashPauses: how long a function whose workers crash waits for the next one. Making a process costs everybody on the
// machine: groups, linking, an interpreter. A few crashes in a row cost nothing, each one after that twice as long a
// pause; a batch that is answered, or a minute without a crash, ends it. Used by Agent.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "base/time.h"
#include "domain/ids.h"

namespace sluice::invoker {

class CrashPauses {
 public:
  using Function = std::pair<ApplicationId, FunctionId>;
  static constexpr std::uint32_t kFree = 3;
  static constexpr Duration kFirst = Duration::ms(100), kLongest = Duration::s(5), kForget = Duration::s(60);

  void crashed(const Function& function, Time now) {
    Crashes& crashes = crashes_[function];
    if (now - crashes.last > kForget) crashes.in_a_row = 0;
    ++crashes.in_a_row;
    crashes.last = now;
  }
  void answered(const Function& function) {
    if (!crashes_.empty()) crashes_.erase(function);
  }
  void forget(ApplicationId application) {
    std::erase_if(crashes_, [&](const auto& one) { return one.first.first == application; });
  }
  // From now to when its next worker may be made.
  [[nodiscard]] Duration pause(const Function& function, Time now) const {
    const auto it = crashes_.find(function);
    if (it == crashes_.end() || it->second.in_a_row <= kFree || now - it->second.last > kForget) return {};
    const std::uint32_t doublings = std::min(it->second.in_a_row - kFree - 1, 16u);
    return std::min(kFirst * (1 << doublings), kLongest);
  }

 private:
  struct Crashes {
    std::uint32_t in_a_row = 0;
    Time last;
  };
  std::map<Function, Crashes> crashes_;
};

}  // namespace sluice::invoker
