// Directory: what is deployed, the names that it is called by, and what was counted of it. Of the scheduler's thread
// alone.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "live/service.h"

namespace sluice::live {

struct Missing {  // an application that was deployed, and that this start cannot run
  std::string tenant, application;
  std::uint32_t version = 1;
  std::string reason;
};

struct Installed {
  std::shared_ptr<const Application> application;
  std::vector<std::uint64_t> keys;                               // of its functions' contents, by position
  std::shared_ptr<const std::vector<ProfileStanding>> profiled;  // by function
  std::shared_ptr<const Target> target;
  std::uint32_t version = 1;
  bool is_function = false;
  bool removed = false;
  bool loading = false;  // not all that stays loaded is yet
  std::string reason;    // what of it is not profiled
  ModelStats stats;
  TenantId tenant;
  std::vector<ApplicationId> functions;  // alone; of an application
  std::shared_ptr<const void> files;     // its models
  Ports inputs, outputs;                 // of the application, worked out once
  std::uint32_t batch_max = 1;
  std::vector<std::uint32_t> versions = {};  // of the application that are kept, ascending
  std::optional<ApplicationId> canary = {};
  double canary_share = 0;
  std::shared_ptr<CallCount> calls = {};  // since there is a canary
  bool lists = false;

  // How it is known now how long a function takes.
  void set_profiled(std::size_t function, ProfileStanding standing);
};

// What a user should know of functions that are not profiled; empty: all are.
[[nodiscard]] std::string reason_of(const Application& application, const std::vector<ProfileStanding>& profiled);

class Directory {
 public:
  [[nodiscard]] ApplicationId next() const { return ApplicationId(static_cast<std::uint32_t>(installed_.size())); }
  void add(Installed installed) { installed_.push_back(std::move(installed)); }
  [[nodiscard]] Installed& operator[](ApplicationId id) { return installed_[id.index()]; }
  // Null: it is not deployed any more, or never was.
  [[nodiscard]] Installed* find(ApplicationId id);
  [[nodiscard]] std::optional<ApplicationId> application_named(const std::string& tenant,
                                                               const std::string& name) const;
  [[nodiscard]] std::optional<ApplicationId> canary_of(const std::string& tenant, const std::string& name) const;
  // Calls of the application's name and of its functions' names are theirs from now on. Counts go on over versions,
  // also those of functions that are still there.
  void name(ApplicationId id, std::optional<ApplicationId> before, std::vector<std::uint32_t> versions = {});
  // A share of the calls of its name is the canary's from now on. REQUIRES: somebody has the name.
  void add_canary(ApplicationId id, double share, std::vector<std::uint32_t> versions);
  // Nobody calls it or its functions any more by any name, and it is nobody's canary. Its functions, then itself.
  [[nodiscard]] std::vector<ApplicationId> retire(ApplicationId id);
  void forget(ApplicationId id) { installed_[id.index()] = {.removed = true}; }

  void miss(Missing missing);
  void found(const std::string& tenant, const std::string& name) { missing_.erase({tenant, name}); }

  // Of everything that is deployed and not removed: visit(id, Installed&).
  template <typename Visit>
  void each(Visit&& visit) {
    for (std::uint32_t a = 0; a < installed_.size(); ++a) {
      if (!installed_[a].removed) visit(ApplicationId(a), installed_[a]);
    }
  }
  // By tenant, applications before functions, by name.
  [[nodiscard]] std::vector<Model> models() const;

 private:
  using Names = std::unordered_map<std::string, ApplicationId>;

  void take_over(ApplicationId before, ApplicationId id);
  // Calls visit(counts of one, counts of the other), of both and of their functions with the same names.
  template <class Visit>
  void each_alike(ApplicationId one, ApplicationId other, Visit visit);

  std::vector<Installed> installed_;                              // by ApplicationId
  std::unordered_map<std::string, Names> names_;                  // by tenant
  std::map<std::pair<std::string, std::string>, Model> missing_;  // by tenant and name
};

}  // namespace sluice::live
