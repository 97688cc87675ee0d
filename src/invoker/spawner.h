// Spawner: makes worker processes. Torch workers come from a parked parent that has the library loaded and only forks;
// Python functions run in their own interpreter; everything else is a fresh sluice-worker. All of them give up what
// their tenant must not have before they run anything of it (wire/confinement.h).
#pragma once
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/function.h"
#include "invoker/quarters.h"
#include "wire/channel.h"
#include "wire/confinement.h"

namespace sluice::invoker {

// A process, the socket to it, and where what it prints comes out. Killing it is the owner's business.
struct WorkerProcess {
  pid_t pid = 0;            // to be shown; what is done to the process is done by its handle
  wire::Descriptor handle;  // valid if there is a process
  bool own_child = false;   // to be waited for; a parked parent waits for its own
  wire::Channel channel{wire::Descriptor()};
  wire::Descriptor log;  // does not block
  wire::Descriptor end;  // of one from the parked parent, which writes a wire::ProcessEnd there; does not block
  std::string model;     // where the process finds the model of its body; empty: where the body says
};

class Spawner {
 public:
  struct Options {
    std::string worker;                  // the program sluice-worker
    std::string python = "python3";      // interpreter
    std::string python_worker;           // the file it runs; empty: no Python functions
    bool park = true;                    // torch workers from a parked parent
    std::shared_ptr<Quarters> quarters;  // of workers; null: they are whoever the server is
    std::vector<std::string> pass;       // names of variables that workers get from the server's environment
    std::vector<std::string> readable;   // files and folders that workers read where landlock keeps them from others
  };
  explicit Spawner(Options options) : options_(std::move(options)) {}
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  // `limit` is called once the process is there; nothing of the tenant, nor an interpreter for it, runs before it
  // returns.
  using Limit = std::function<void(pid_t)>;
  // `variables`: of its environment besides what every worker has, as NAME=VALUE, of one that uses a GPU.
  [[nodiscard]] Result<WorkerProcess> spawn(const Body& body, const std::string& tenant, const Limit& limit,
                                            const std::vector<std::string>& variables = {});

 private:
  // What a worker is told before anything else, and what goes with it.
  struct Order {
    wire::Confinement confinement;
    wire::Descriptor model;
    std::string model_path;  // in the worker
  };
  [[nodiscard]] Result<Order> order(const Body& body, const std::string& tenant);
  [[nodiscard]] static Status hand_over_model(const std::string& file, const Quarters::Place& place, Order& out);
  [[nodiscard]] Result<WorkerProcess> execute(const std::vector<std::string>& command, const std::string& home,
                                              const std::vector<std::string>& variables = {});
  [[nodiscard]] Result<WorkerProcess> fork_from_parked(const Order& wanted);
  [[nodiscard]] Status start_parked();
  [[nodiscard]] std::vector<std::string> environment(const std::string& home,
                                                     const std::vector<std::string>& variables) const;

  Options options_;
  std::optional<WorkerProcess> parked_;
};

// Whether a Python function names the interpreter of an environment of its own, as the first of its command.
[[nodiscard]] bool has_own_interpreter(const Body& body);

// Ends a process with the group it leads; it may take a while until it is gone. The parked parent ends the groups of
// its children. REQUIRES: nobody has waited for it.
void kill_process(const WorkerProcess& process);
// The same and waits until it has ended.
void end_process(WorkerProcess& process);

}  // namespace sluice::invoker
