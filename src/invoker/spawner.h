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
  pid_t pid = 0;            // to be shown; what is done to the process is done by its handle
  wire::Descriptor handle;  // valid if there is a process
  bool own_child = false;   // to be waited for; a parked parent waits for its own
  wire::Channel channel{wire::Descriptor()};
  wire::Descriptor log;  // does not block
  wire::Descriptor end;  // of one from the parked parent, which writes a wire::ProcessEnd there; does not block
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

// Ends a process with the group it leads; it may take a while until it is gone. The parked parent ends the groups of
// its children. REQUIRES: nobody has waited for it.
void kill_process(const WorkerProcess& process);
// The same and waits until it has ended.
void end_process(WorkerProcess& process);

}  // namespace sluice::invoker
