// Measures how long a function takes, configuration by configuration, in a worker of its own: what `sluice profile` and
// `deploy` do for functions without a profile. The most telling configurations come first, so that whatever was
// measured when the time is over is of use.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "data/tensor.h"
#include "domain/function.h"
#include "invoker/patience.h"
#include "invoker/spawner.h"

namespace sluice::invoker {

struct ProfilePlan {
  std::string tenant = "default";  // whose function it is
  std::vector<std::uint16_t> batch{1, 2, 4, 8, 16};
  std::vector<std::uint16_t> vcpu{1};
  Duration budget = Duration::s(60);
  std::uint32_t runs_least = 5, runs_most = 50;  // of one configuration
  std::optional<data::Tensors> sample;           // one row of inputs; else made from the declared shapes
  Patience patience;
  const std::atomic<bool>* stop = nullptr;  // once it is true nothing is waited for any more
};

struct ProfileProgress {
  std::size_t done = 0, all = 0;
  Configuration at;
  std::optional<ProfileRow> row;  // of the configuration just done
};

// Whether inputs can be made up from what the function declares: it declares some, all of a fixed size, or is emulated.
[[nodiscard]] bool inputs_can_be_made(const Function& function);

// What was measured when all was done, the budget was used up, or `go_on` said no. An error if not even the first
// configuration could be measured.
[[nodiscard]] Result<ProfileTable> measure(const Function& function, const ProfilePlan& plan, Spawner& spawner,
                                           const std::shared_ptr<data::Arena>& arena,
                                           const std::function<bool(const ProfileProgress&)>& go_on);

// Whether a function works at all: it is loaded in a worker of its own and runs once, where its inputs are declared or
// there is a sample. An error if it does not load, crashes or hangs; `doubt` gets what it says of inputs that were made
// up, which may be its right.
[[nodiscard]] Status try_once(const Function& function, const ProfilePlan& plan, Spawner& spawner,
                              const std::shared_ptr<data::Arena>& arena, std::string& doubt);

}  // namespace sluice::invoker
