// Writer: the thread that owns the Store. Work is posted from any thread into a bounded queue; whatever waits when the
// last commit returns goes to disk in one transaction, so that many requests share the price of one.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace sluice::store {

class Writer {
 public:
  // Runs in the writer's thread, between others, inside of their transaction: it neither begins nor commits one. What
  // it refers to must live until `done`.
  using Work = std::function<Status(Store&)>;
  // Called once: in the writer's thread with what the work returned, after that is on disk, or with why it is not; or
  // in the poster's, before post() returns, if the work was not taken. It may post; it must not block.
  using Done = std::function<void(Status)>;

  explicit Writer(Store store, std::size_t waiting_max = 4'096);
  ~Writer() { stop(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Work happens in the order of the posts. Unavailable: the queue is full, or the writer has stopped.
  void post(Work work, Done done);
  // Does what is queued, then ends the thread. Not from the writer's thread.
  void stop();

 private:
  struct Job {
    Work work;
    Done done;
  };
  [[nodiscard]] std::vector<Job> take();  // waits; empty: stopped and drained
  void run();
  void run_group(std::vector<Job>& group);

  Store store_;
  const std::size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Job> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::store
