// Company: whether waiting for more requests has brought any, by how many wait. The rule of batch_wait.h believes the
// rate of the recent past. Clients that ask again when they are answered have such a rate as well, but while all of
// them wait nobody else can come. So where many should have come and nobody did, nobody is waited for any more; that is
// tried again after a while, later each time. State of the policy, one for each queue.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/archive.h"
#include "base/time.h"

namespace sluice::policy {

class Company {
 public:
  // Arrivals that were expected and did not come, before the rate is doubted: chance alone does that to one of 20,000.
  static constexpr double kDoubt = 10;

  // One more comes.
  void came() {
    if (waiting_ > 0) with(waiting_) = {};
    waiting_ = 0;
  }
  // A batch starts.
  void started(Time now) {
    account(now);
    waiting_ = 0;
  }

  // Whether `count` may wait for more from now on, at `rate` per ms.
  [[nodiscard]] bool worth(std::uint32_t count, double rate, Time now) {
    if (count > kCountMax) return true;
    if (now < with(count).again) return false;
    account(now);
    if (waiting_ != count) rate_ = rate;  // later it would be less: nobody came
    waiting_ = count;
    since_ = now;
    Tried& tried = with(count);
    if (tried.missed < kDoubt) return true;
    const Duration pause = std::min(tried.waited * (kPause << std::min(tried.times, kDoublings)), kPauseMax);
    tried = {.again = now + pause, .times = tried.times + 1};
    waiting_ = 0;
    return false;
  }
  // When that will be answered otherwise, if nobody comes. REQUIRES: worth() has just said yes.
  [[nodiscard]] Duration doubt_in(std::uint32_t count) {
    if (count > kCountMax) return Duration::max();
    return Duration::ms((kDoubt - with(count).missed) / rate_) + Duration::us(1);  // then it is missed, rounded or not
  }

  void visit(Archive& archive) { archive(tried_, waiting_, rate_, since_); }

 private:
  static constexpr std::uint32_t kCountMax = 256;
  static constexpr std::uint32_t kPause = 4;  // times what was waited in vain
  static constexpr std::uint32_t kDoublings = 10;
  static constexpr Duration kPauseMax = Duration::s(60);

  // Since one came.
  struct Tried {
    double missed = 0;  // arrivals that were expected
    Duration waited;
    Time again;  // not before
    std::uint32_t times = 0;
    void visit(Archive& archive) { archive(missed, waited, again, times); }
  };
  void account(Time now) {
    if (waiting_ == 0) return;
    Tried& tried = with(waiting_);
    tried.waited += now - since_;
    tried.missed += rate_ * (now - since_).to_ms();
  }
  Tried& with(std::uint32_t count) {
    if (tried_.size() < count) tried_.resize(count);
    return tried_[count - 1];
  }

  std::vector<Tried> tried_;   // by how many wait
  std::uint32_t waiting_ = 0;  // on purpose, as of since_
  double rate_ = 0;            // per ms, when they began to
  Time since_;
};

}  // namespace sluice::policy
