// Deployments: applications on their way from a document into the store and to the scheduler, out of them again, and
// back after a restart. Used by Platform; what takes long happens in a thread of its own.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/remark.h"
#include "domain/cluster.h"
#include "invoker/task_thread.h"
#include "live/deployment.h"
#include "live/profiling.h"
#include "live/runner.h"
#include "live/service.h"
#include "store/writer.h"

namespace sluice::live {

class Deployments {
 public:
  struct Options {
    std::string models;  // the folder of model files
    std::vector<NodeGroup> nodes;
    policy::Derive derive;  // what the scheduler's policy derives from plans
    std::function<std::optional<store::Tenant>(std::string_view)> tenant;  // by name; any thread
    OnRemark say;
    std::function<void()> changed;  // the snapshot shows what came or went; in the runner's thread
  };
  // All must outlive the deployments; `runner` is told what is there.
  Deployments(Options options, data::Arenas& arenas, store::Writer& writer, Profiling& profiling,
              Mailbox<Letter>& runner)
      : options_(std::move(options)),
        models_(options_.models),
        arenas_(arenas),
        writer_(writer),
        profiling_(profiling),
        runner_(runner) {}

  // What was deployed when the server ended. What does not deploy any more (another machine, other limits) is told and
  // unavailable; it stays in the store.
  void restore(std::vector<store::DeployedApplication> applications);
  void deploy(Deployment deployment, OnDeployed done);
  // A version that is kept takes over, as one that is deployed does. `back`: it served before; without a number it is
  // the last that did.
  void serve(const std::string& tenant, const std::string& application, std::optional<std::uint32_t> version, bool back,
             OnDeployed done);
  // The canary goes; `serving` is the version that gets all calls then.
  void withdraw(const std::string& tenant, const std::string& application, std::uint32_t serving, OnDeployed done);
  void remove(const std::string& tenant, const std::string& application, std::function<void(Status)> done);
  // Nothing of an application that was removed is left: model files that nobody else has go, and with the thread's next
  // rest the memory of its plans.
  void clean_up();
  void stop();

 private:
  struct Order {
    Deployment deployment;
    std::optional<std::uint32_t> kept;  // it is this version, which was deployed before
    bool back = false;                  // and served
    OnDeployed done;
  };
  struct Version {
    std::uint32_t number = 0;
    TenantId tenant;
    std::optional<double> share;          // of the calls, of a canary
    std::vector<std::uint32_t> versions;  // that are kept
    std::function<void()> entered;        // none: at a start, when nobody calls it yet
  };
  void say(Remark remark) const;
  void follow(Order order);
  [[nodiscard]] Result<Prepared> prepared(const Deployment& deployment);
  void make_plans(Prepared& prepared) const;  // takes long: not in the scheduler's thread
  // Nobody calls a version that cannot work: functions that nobody has deployed yet are tried first. Takes long.
  [[nodiscard]] Status try_out(Prepared& prepared);
  [[nodiscard]] Result<store::Tenant> owner_of(const std::string& tenant) const;
  // Whether the tenant may have these functions too; if so, they count from now on.
  [[nodiscard]] std::optional<OverQuota> count_functions(const Application& application, bool canary,
                                                         const Quota& quota);
  [[nodiscard]] bool serves(const Application& application);
  void forget_functions(const std::string& tenant, const std::string& application, bool canary_only);
  void try_and_put(Order order, Prepared prepared, Deployed answer);
  void refuse(const Order& order, const Error& why) const;
  void put(const Order& order, Prepared prepared, Deployed answer);
  void install(Prepared prepared, Version version);

  Options options_;
  ModelFiles models_;
  data::Arenas& arenas_;
  store::Writer& writer_;
  Profiling& profiling_;
  Mailbox<Letter>& runner_;
  std::mutex functions_mutex_;
  std::map<std::tuple<std::string, std::string, bool>, std::size_t> functions_;  // by tenant, application, whether it
                                                                                 // is the canary; guarded
  std::set<std::uint64_t> fine_;  // contents of functions that have been tried, or served; guarded likewise
  std::map<std::string, std::unique_ptr<invoker::TaskThread>> trials_;  // by tenant; guarded likewise
  invoker::TaskThread thread_{invoker::TaskThread::Tasks::large};
};

}  // namespace sluice::live
