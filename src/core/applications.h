// Applications: what is deployed, what planners believe of it and what executions taught. Applications come, change and
// go; the same function of a tenant is one, whichever of its applications have it. Another belief becomes that of the
// planners when plans of it were made, which somebody else is asked for (believe.cpp).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/archive.h"
#include "core/beliefs.h"
#include "core/branches.h"
#include "core/control.h"
#include "core/plans.h"
#include "core/queues.h"
#include "core/tenant_books.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "policy/view.h"
#include "profile/learner.h"
#include "profile/neighbours.h"
#include "profile/tail.h"

namespace sluice::core {

// What a batch took, and what it was.
struct Execution {
  policy::SharedFunctionId function;
  policy::QueueId queue;
  Configuration configuration;
  std::uint16_t members = 1;
  Duration execution;
  Duration beside;        // pace.h
  double neighbours = 0;  // the share of the other slices of its GPU that was busy when it was booked
};

class Applications {
 public:
  // `queues`, where those of the stages are put, and `tenants`, which numbers the tenants, outlive this.
  Applications(Queues& queues, TenantBooks& tenants) : queues_(queues), tenants_(tenants) {}

  [[nodiscard]] const std::vector<policy::ApplicationModel>& models() const { return models_; }  // ApplicationId is
  [[nodiscard]] const std::vector<Control>& controls() const { return controls_; }               // the position
  [[nodiscard]] const std::vector<policy::SharedFunction>& functions() const { return functions_; }
  // Deployed and not removed: its requests are let in.
  [[nodiscard]] bool takes_requests(ApplicationId id) const {
    return id.index() < models_.size() && !models_[id.index()].removed;
  }
  [[nodiscard]] bool is_retired(ApplicationId id) const { return controls_[id.index()].retired; }
  // The function, whichever applications have it; nothing if there is none.
  [[nodiscard]] std::optional<policy::SharedFunctionId> shared(ApplicationId application, FunctionId function) const;

  // REQUIRES: ids are given out in order; the application can be planned. `plans`: of it; null: they are made here.
  void deploy(ApplicationId id, const std::shared_ptr<const Application>& application,
              std::shared_ptr<const Plans> plans = nullptr);
  // What it has begun it finishes; nothing new is let in. Once nothing of it is in use it can be retired.
  void remove(ApplicationId id);
  void expect_calls(const CallsExpected& event);
  // Requests in the system and batches that run, counted here so that it is known when nothing of it is left.
  void use(ApplicationId id) { ++controls_[id.index()].in_use; }
  void leave(ApplicationId id) { --controls_[id.index()].in_use; }
  // Removed ones of which nothing is left; retire() gives back plan, workflow and queues.
  [[nodiscard]] std::vector<ApplicationId> left() const;
  void retire(ApplicationId id);

  // Other times than planners believed: from outside, or because a batch took that long.
  void change_profile(const ProfileChanged& event);
  void learn(const Execution& execution);
  // Likewise what is told of conditions and fan-outs.
  void learn(ApplicationId id, std::span<const Verdict> verdicts, std::span<const FanOut> fan_outs);

  // And what an earlier scheduler had learned of them.
  void learn(const BranchesKnown& event);
  [[nodiscard]] BranchesKnown known_branches(ApplicationId id) const;

  // The plans to be made for what was learned since, by ApplicationId: each is told once.
  [[nodiscard]] std::vector<MakePlans> orders();
  // What such plans are made from; null: nobody waits for them any more.
  [[nodiscard]] const Belief* ordered(const MakePlans& order) const;
  // True if planners believe something else now. Plans that nobody waits for change nothing.
  bool made(const PlansMade& event);
  // How many plans were made here, because none were brought. Not part of the state.
  [[nodiscard]] std::uint64_t plans_made_here() const { return plans_made_here_; }

  void visit(Archive& archive);

 private:
  struct Learned {
    Profile given;                                    // by the application that was deployed last with another one
    std::optional<profile::FunctionProfile> profile;  // as given; absent: nothing to learn from
    std::optional<Profile> replaced;                  // given after it was deployed
    profile::Learner learner, published;              // published: what planners believe
    profile::Neighbours neighbours, published_neighbours;
    profile::Tail tail;
    profile::Stragglers stragglers;  // what planners believe of it
    std::uint64_t executions = 0;
  };
  // How many times as long it took as the planner of its queue believes.
  [[nodiscard]] double slower(const Learned& learned, const Execution& ran) const;
  // Whether plans are off because more or fewer of the slices beside it are busy than they were made for.
  [[nodiscard]] static bool other_neighbours(const Learned& learned, const Configuration& ran);
  void publish(policy::SharedFunctionId function);
  void count_kept(ApplicationId id);
  void add_retired(ApplicationId id, const std::shared_ptr<const Application>& application);
  [[nodiscard]] std::shared_ptr<const Plans> plans_of(ApplicationId id, const Belief& belief);
  void believe(ApplicationId id, const Plans& plans);
  void revise(ApplicationId id, std::shared_ptr<const Application> application);
  [[nodiscard]] const std::shared_ptr<const Application>& application_of(ApplicationId id, const Belief& belief) const;
  [[nodiscard]] std::vector<policy::SharedFunctionId> share_functions(ApplicationId id, const Application& application);
  void give_profiles(const Application& application, std::span<const policy::SharedFunctionId> shared);
  void visit_learned(Archive& archive);

  Queues& queues_;
  TenantBooks& tenants_;
  std::vector<policy::ApplicationModel> models_;
  std::vector<Control> controls_;
  std::vector<Beliefs> beliefs_;
  std::vector<ApplicationId> revised_;  // applications of which plans may have to be ordered
  std::vector<Branches> branches_;
  std::vector<policy::SharedFunction> functions_;  // SharedFunctionId is the position
  std::vector<Learned> learned_;                   // likewise
  std::vector<ApplicationId> leaving_;             // removed, not yet retired
  std::uint64_t plans_made_here_ = 0;
};

}  // namespace sluice::core
