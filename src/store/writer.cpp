#include "store/writer.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text.h"

namespace sluice::store {
namespace {

// Bounds how long the first of a group waits for the last.
constexpr std::size_t kGroupMax = 256;

}  // namespace

Writer::Writer(Store store, std::size_t waiting_max)
    : store_(std::move(store)), waiting_max_(waiting_max), thread_([this] { run(); }) {}

void Writer::post(Work work, Done done) {
  std::string refused;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      refused = "the store has stopped";
    } else if (waiting_.size() >= waiting_max_) {
      refused = str("the store is busy: ", waiting_.size(), " changes wait for the disk already");
    } else {
      waiting_.push_back({std::move(work), std::move(done)});
    }
  }
  if (refused.empty()) {
    posted_.notify_one();
  } else {
    // NOLINTNEXTLINE(bugprone-use-after-move): what is refused was not moved
    done(Error{ErrorCode::unavailable, std::move(refused)});
  }
}

void Writer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  posted_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::vector<Writer::Job> Writer::take() {
  std::unique_lock lock(mutex_);
  posted_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
  const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kGroupMax));
  const auto end = waiting_.begin() + count;
  std::vector<Job> group(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  return group;
}

void Writer::run() {
  for (;;) {
    std::vector<Job> group = take();
    if (group.empty()) return;
    run_group(group);
  }
}

// A failure that undid the transaction (a full disk) fails all of the group, also those whose turn did not come.
void Writer::run_group(std::vector<Job>& group) {
  Status whole = store_.begin_batch();
  std::vector<Status> outcomes;
  for (Job& job : group) {
    if (!whole) break;
    outcomes.push_back(job.work(store_));
    if (!store_.in_batch()) whole = outcomes.back().ok() ? store_.commit() : outcomes.back();
  }
  if (whole) whole = store_.commit();
  for (std::size_t i = 0; i < group.size(); ++i) group[i].done(whole ? std::move(outcomes[i]) : whole);
}

}  // namespace sluice::store
