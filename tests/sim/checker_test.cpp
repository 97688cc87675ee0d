// Planted faults: each must be found by the checker of a simulated world, by itself.
#include <gtest/gtest.h>

#include "policy/keep_alive.h"
#include "sim/world.h"
#include "spec/load.h"

namespace sluice::sim {
namespace {

Experiment small(InstanceMode instances = InstanceMode::warm) {
  const spec::Loaded loaded = spec::load("examples/esg/moderate_heavy.yaml");
  Experiment out = std::get<Experiment>(*loaded.document);
  out.workload.requests = 60;
  out.workload.warmup = 0;
  out.instances = instances;
  return out;
}

// What the checker says of a run; empty: all is well.
std::string verdict(const Experiment& experiment, WorldOptions options) {
  options.check_every_event = true;
  auto world = World::make(experiment, std::move(options));
  EXPECT_TRUE(world.ok());
  const RunResult result = (*world)->run();
  return result.violation ? result.violation->invariant : "";
}

// Changes the n-th command of a kind on its way; `change` may also repeat or erase it.
template <class Kind>
auto change_one(int n, std::function<void(Commands&, std::size_t)> change) {
  return [n, seen = 0, change](Commands& commands) mutable {
    for (std::size_t i = 0; i < commands.list.size(); ++i) {
      if (std::holds_alternative<Kind>(commands.list[i].action) && ++seen == n) return change(commands, i);
    }
  };
}
template <class Kind>
Kind& action(Commands& commands, std::size_t i) {
  return std::get<Kind>(commands.list[i].action);
}
void repeat(Commands& commands, std::size_t i) {
  commands.list.push_back(Command(commands.list[i]));
}
void erase(Commands& commands, std::size_t i) {
  commands.list.erase(commands.list.begin() + static_cast<std::ptrdiff_t>(i));
}

TEST(Checker, FindsNothingWhereNothingIsWrong) {
  EXPECT_EQ(verdict(small(), {.scheduler = "fifo"}), "");
  EXPECT_EQ(verdict(small(InstanceMode::counted), {.scheduler = "fifo"}), "");
}

TEST(Checker, FindsASliceThatIsGivenTwice) {
  std::optional<StartBatch> first;
  const auto tamper = [&](Commands& commands) {
    for (Command& command : commands.list) {
      auto* start = std::get_if<StartBatch>(&command.action);
      if (start == nullptr) continue;
      if (!first) {
        first = *start;
        continue;
      }
      start->invoker = first->invoker;
      start->configuration = first->configuration;
      start->positions = first->positions;
    }
  };
  EXPECT_NE(verdict(small(), {.scheduler = "fifo", .tamper = tamper}).find("was given twice"), std::string::npos);
}

TEST(Checker, FindsVcpusThatAreNotThere) {
  const auto tamper =
      change_one<StartBatch>(5, [](Commands& c, std::size_t i) { action<StartBatch>(c, i).configuration.vcpu = 17; });
  EXPECT_NE(verdict(small(), {.scheduler = "fifo", .tamper = tamper}).find(" of 16 vCPUs"), std::string::npos);
}

TEST(Checker, FindsALostReply) {
  EXPECT_EQ(verdict(small(), {.scheduler = "fifo", .tamper = change_one<Reply>(7, erase)}),
            "1 requests were never answered");
}

TEST(Checker, FindsADoubleReply) {
  EXPECT_NE(verdict(small(), {.scheduler = "fifo", .tamper = change_one<Reply>(7, repeat)}).find("was answered twice"),
            std::string::npos);
}

TEST(Checker, FindsARequestThatIsAcceptedTwice) {
  EXPECT_NE(verdict(small(), {.scheduler = "fifo", .tamper = change_one<Accept>(7, repeat)}).find("was accepted twice"),
            std::string::npos);
}

TEST(Checker, FindsABatchThatWasNeverStarted) {
  EXPECT_EQ(verdict(small(), {.scheduler = "fifo", .tamper = change_one<StartBatch>(7, erase)}),
            "1 requests were never answered");
}

TEST(Checker, FindsABatchWhereItsFunctionIsNotLoaded) {
  const auto tamper = change_one<StartBatch>(
      5, [](Commands& c, std::size_t i) { action<StartBatch>(c, i).instance = InstanceId(1'000'000); });
  EXPECT_NE(verdict(small(InstanceMode::counted), {.scheduler = "fifo", .tamper = tamper}).find("is not loaded"),
            std::string::npos);
}

// Decides by a counter that visit() does not name: what it does after a reload is not what it would have done.
class Hidden final : public policy::Dispatch {
 public:
  explicit Hidden(std::unique_ptr<policy::Dispatch> inner, bool saves) : inner_(std::move(inner)), saves_(saves) {}
  void begin(const policy::View& view) override { inner_->begin(view); }
  bool next(const policy::View& view, policy::Proposals& out) override {
    if (!inner_->next(view, out)) return false;
    if (++decisions_ % 3 == 0) {
      for (policy::Proposal& p : out.ranked) p.latest = view.now + Duration::s(1);
    }
    return true;
  }
  void decided(const policy::View& view, const policy::Proposals& proposals,
               std::optional<std::size_t> booked) override {
    inner_->decided(view, proposals, booked);
  }
  void visit(Archive& archive) override {
    inner_->visit(archive);
    if (saves_) archive(decisions_);
  }

 private:
  std::unique_ptr<policy::Dispatch> inner_;
  bool saves_;
  std::uint64_t decisions_ = 0;
};

std::function<policy::Policies()> hidden(bool saves) {
  return [=] {
    policy::Policies out = policy::make_scheduler("fifo", {}).value();
    out.dispatch = std::make_unique<Hidden>(std::move(out.dispatch), saves);
    return out;
  };
}

TEST(Checker, FindsAPolicyWithHiddenState) {
  const Faults reloads{.reload_per_event = 0.05};
  EXPECT_EQ(verdict(small(), {.policies = hidden(false), .faults = reloads}), "a loaded scheduler decides differently");
  EXPECT_EQ(verdict(small(), {.policies = hidden(true), .faults = reloads}), "");
}

// Keeps nothing warm after a reload that its twin keeps: only when it wants to be asked again tells them apart.
class ForgetfulPrewarm final : public policy::Prewarm {
 public:
  void decide(const policy::View& view, policy::Wishes& out) override {
    ++seen_;
    inner_->decide(view, out);
  }
  [[nodiscard]] std::optional<Time> next_wake(const policy::View& view) const override {
    return view.now + Duration::s(static_cast<double>(seen_));
  }
  void visit(Archive& archive) override { inner_->visit(archive); }

 private:
  std::unique_ptr<policy::Prewarm> inner_ = policy::make_prewarm_keep_alive({});
  std::uint64_t seen_ = 0;
};

TEST(Checker, FindsAHiddenStateThatOnlyMovesTheNextWake) {
  const auto policies = [] {
    policy::Policies out = policy::make_scheduler("fifo", {}).value();
    out.prewarm = std::make_unique<ForgetfulPrewarm>();
    return out;
  };
  const Faults reloads{.reload_per_event = 0.05};
  EXPECT_EQ(verdict(small(InstanceMode::counted), {.policies = policies, .faults = reloads}),
            "a loaded scheduler decides differently");
}

}  // namespace
}  // namespace sluice::sim
