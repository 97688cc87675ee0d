// Reaper: ends worker processes without letting anybody wait for that. They are killed at once; until they have ended,
// which takes long where much memory has to be given back or a driver holds them, a thread of its own watches over
// them, all at the same time. Used by Agent.
#pragma once
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "invoker/spawner.h"
#include "invoker/waker.h"

namespace sluice::invoker {

class Reaper {
 public:
  Reaper() = default;
  ~Reaper() { stop(); }
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  [[nodiscard]] Status start();

  // Does not wait. `then` is called when the process is gone, by the thread, and only then given up with all that it
  // holds; never called where there is no process.
  void end(WorkerProcess process, std::function<void()> then);
  // Waits until all are gone; not for ever for one that the system does not let end.
  void stop();

 private:
  struct Ending {
    WorkerProcess process;
    std::function<void()> then;
    bool ended = false;  // and no longer watched
  };
  void loop();
  void take_added(std::vector<Ending>& endings);
  // Whether nothing of it is left. A child that ended stays while somebody else traces it.
  [[nodiscard]] bool gone(Ending& ending);

  Waker waker_;
  std::mutex mutex_;
  std::vector<Ending> added_;  // guarded by mutex_
  bool stopping_ = false;      // guarded by mutex_
  std::thread thread_;         // last: it uses the others
};

}  // namespace sluice::invoker
