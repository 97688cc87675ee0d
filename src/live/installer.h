// Installer: versions of applications on their way in and out. A new version takes the place of the one before when its
// functions are loaded, so that nobody waits for a cold start because of a deployment; a canary gets a share of the
// calls and stands beside. Of the scheduler's thread alone; used by Runner.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bus/link.h"
#include "core/scheduler.h"
#include "data/arenas.h"
#include "live/directory.h"
#include "live/standings.h"

namespace sluice::live {

struct Deploying {
  std::shared_ptr<const Application> application;
  std::vector<std::shared_ptr<const Application>> functions;  // each of its functions alone; a canary has none
  std::uint32_t version = 1;
  TenantId tenant;
  std::vector<std::uint64_t> keys;        // of its functions' contents, by position
  std::vector<ProfileStanding> profiled;  // by function
  std::shared_ptr<const void> files;      // its models stay while this is held
  // Of the application, then of each of its functions; none: the scheduler makes them.
  std::vector<std::shared_ptr<const core::Plans>> plans = {};
  std::optional<double> share = {};          // of the calls, of a canary
  std::vector<std::uint32_t> versions = {};  // that are kept, ascending
  bool warm = false;                         // it takes over when its functions are loaded, or soon
  std::function<void()> entered = {};        // it can be called
};
struct Removing {
  std::string tenant, application;
  bool canary_only = false;
  std::vector<std::uint32_t> versions = {};  // that are kept then
};

class Installer {
 public:
  struct Parts {
    Directory& directory;
    Standings& standings;
    core::Scheduler& scheduler;
    data::Arenas& arenas;
    bus::Link& link;
  };
  struct Hooks {
    std::function<void(const Event&)> observe;
    std::function<void()> settle;                  // what came before is let in by the version that was there then
    std::function<void()> changed;                 // other versions can be called
    std::function<void(ApplicationId)> forgotten;  // nothing of it is left
  };
  Installer(Parts parts, Hooks hooks) : parts_(parts), hooks_(std::move(hooks)) {}

  void deploy(Deploying deploying, Time now);
  void remove(const Removing& removing);
  // Versions that are loaded by now take over.
  void look(Time now);
  [[nodiscard]] std::optional<Time> due() const;
  void forget_retired();

 private:
  struct Entering {
    Deploying deploying;
    ApplicationId id;
    Time until;  // it takes over, loaded or not
  };
  // `part`: 0 is the application itself, then come its functions.
  [[nodiscard]] ApplicationId install(const Deploying& deploying, std::size_t part);
  void enter(const Entering& entering);
  // Those of the name that are still on their way, in their order.
  void hurry(const std::string& tenant, const std::string& name);
  void retire(ApplicationId id);

  Parts parts_;
  Hooks hooks_;
  std::vector<Entering> entering_;      // in the order in which they came
  std::vector<ApplicationId> loading_;  // can be called, and something of it that stays loaded is not loaded yet
  std::vector<ApplicationId> leaving_;  // removed, not yet forgotten
};

}  // namespace sluice::live
