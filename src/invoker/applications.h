// Applications: those that this machine was told of, and what their functions need to run here.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "data/arenas.h"
#include "domain/application.h"
#include "invoker/worker.h"
#include "profile/function_profile.h"

namespace sluice::invoker {

class Applications {
 public:
  explicit Applications(data::Arenas& arenas) : arenas_(arenas) {}

  void add(ApplicationId id, std::shared_ptr<const Application> application);
  // No later batch is of it; instances of its functions may still be loaded.
  void forget(ApplicationId id);

  // REQUIRES of all: it was told.
  [[nodiscard]] const Application& operator[](ApplicationId id) const { return *known_[id.index()].application; }
  [[nodiscard]] const Function& function(ApplicationId application, FunctionId function) const;
  [[nodiscard]] const Function& function(const Instance& instance) const;
  // What the instance runs, by where it is loaded.
  [[nodiscard]] const Body& body(const Instance& instance) const;
  // Whether a stage of its own workflow may leave outputs on a GPU (domain/keepable.h).
  [[nodiscard]] bool keeps(ApplicationId application, StageId stage) const;
  // Null: it has none.
  [[nodiscard]] const profile::FunctionProfile* profile(ApplicationId application, FunctionId function) const;
  // REQUIRES: something of the application is loaded, so that its tenant has an arena.
  [[nodiscard]] const std::shared_ptr<data::Arena>& arena(ApplicationId application);

 private:
  struct Known {
    std::shared_ptr<const Application> application;
    std::vector<std::optional<profile::FunctionProfile>> profiles;  // by function; only emulated ones need theirs
    std::shared_ptr<data::Arena> arena;                             // its tenant's; null until something runs
    std::vector<bool> keeps;                                        // by stage
  };

  data::Arenas& arenas_;
  std::vector<Known> known_;  // by ApplicationId
};

}  // namespace sluice::invoker
