// Spawner: makes worker processes. Torch workers come from a parked parent that has the library loaded and only forks;
// Python functions run in their own interpreter; everything else is a fresh sluice-worker.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/function.h"
#include "wire/channel.h"

namespace sluice::invoker {

// A process, the socket to it, and where what it prints comes out. Killing it is the owner's business.
struct WorkerProcess {
  pid_t pid = 0;
  bool own_child = false;  // to be waited for; a parked parent waits for its own
  wire::Channel channel{wire::Descriptor()};
  wire::Descriptor log;  // does not block
};

class Spawner {
 public:
  struct Options {
    std::string worker;              // the program sluice-worker
    std::string python = "python3";  // interpreter
    std::string python_worker;       // the file it runs; empty: no Python functions
    bool park = true;                // torch workers from a parked parent
  };
  explicit Spawner(Options options) : options_(std::move(options)) {}
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  [[nodiscard]] Result<WorkerProcess> spawn(Runtime runtime);

 private:
  [[nodiscard]] Result<WorkerProcess> execute(const std::vector<std::string>& command);
  [[nodiscard]] Result<WorkerProcess> fork_from_parked();
  [[nodiscard]] Status start_parked();

  Options options_;
  std::optional<WorkerProcess> parked_;
};

// Ends a process with what it started; it may take a while until it is gone.
void kill_process(const WorkerProcess& process);
// The same and, if it is a child, waits for it.
void end_process(WorkerProcess& process);

}  // namespace sluice::invoker
