// Where a batch goes: a row per case. Machines are given by their free slices, of seven, and have vCPUs to spare.
#include "policy/placement.h"

#include <gtest/gtest.h>

#include <memory>

#include "policy/home.h"

namespace sluice::policy {
namespace {

class Cluster {
 public:
  explicit Cluster(const std::vector<std::uint32_t>& free_slices) {
    auto application = std::make_shared<Application>();
    application->functions = {{.name = "f"}};
    models_.push_back({.id = ApplicationId(0), .application = std::move(application)});
    for (std::uint32_t i = 0; i < free_slices.size(); ++i) {
      Invoker invoker{.id = InvokerId(i), .usable = true, .warm = true, .vcpu = 8, .vcpu_free = 8};
      invoker.gpus.push_back({.slices = 7, .free = (std::uint64_t{1} << free_slices[i]) - 1});
      by_free_.set(i, free_slices[i]);
      invokers_.push_back(std::move(invoker));
    }
    queue_ = {.id = QueueId(0), .application = ApplicationId(0), .function = FunctionId(0)};
    queue_.shared = SharedFunctionId(0);
  }
  Cluster& inputs_at(std::uint32_t invoker) {
    near_ = InvokerId(invoker);
    return *this;
  }
  Cluster& without(std::uint32_t invoker) {
    invokers_[invoker].usable = false;
    by_free_.set(invoker, FreeIndex::kAbsent);
    return *this;
  }
  Cluster& without_vcpus(std::uint32_t invoker) {
    invokers_[invoker].vcpu_free = 0;
    return *this;
  }
  // The invoker for a batch of so many slices; -1: none.
  int place_on(Placement placement, int slices, std::uint32_t next = 0) {
    queue_.waiting = {};
    queue_.waiting.push_back({.inputs_at = near_});
    const Transfer transfer;
    const View view{.invokers = invokers_, .by_free = by_free_, .applications = models_, .transfer = transfer};
    const auto found = place(placement, view, queue_, configuration(1, 1, slices), next);
    return found ? static_cast<int>(*found) : -1;
  }

 private:
  std::vector<ApplicationModel> models_;
  std::vector<Invoker> invokers_;
  FreeIndex by_free_;
  Queue queue_;
  InvokerId near_;
};

TEST(Placement, LocalityGoesToTheInputsElseToTheEmptiest) {
  EXPECT_EQ(Cluster({7, 2, 5}).inputs_at(1).place_on(Placement::locality, 2), 1);
  EXPECT_EQ(Cluster({6, 2, 7}).inputs_at(1).place_on(Placement::locality, 3), 2);
  EXPECT_EQ(Cluster({6, 2, 6}).place_on(Placement::locality, 1), 0);
  EXPECT_EQ(Cluster({6, 2, 6}).without(0).place_on(Placement::locality, 1), 2);
  EXPECT_EQ(Cluster({6, 7}).inputs_at(1).without(1).place_on(Placement::locality, 1), 0);
  EXPECT_EQ(Cluster({2, 2}).place_on(Placement::locality, 3), -1);
}

TEST(Placement, BestFitGoesToTheFullestThatHasRoom) {
  EXPECT_EQ(Cluster({7, 2, 3}).place_on(Placement::best_fit, 2), 1);
  EXPECT_EQ(Cluster({7, 2, 3}).place_on(Placement::best_fit, 3), 2);
  EXPECT_EQ(Cluster({7, 3, 3}).place_on(Placement::best_fit, 3), 1);
  EXPECT_EQ(Cluster({7, 3, 3}).without_vcpus(1).place_on(Placement::best_fit, 3), 2);
  EXPECT_EQ(Cluster({2, 2}).place_on(Placement::best_fit, 3), -1);
}

TEST(Placement, BalanceGoesToTheEmptiestWhereverTheInputsAre) {
  EXPECT_EQ(Cluster({3, 7, 7}).inputs_at(0).place_on(Placement::balance, 1), 1);
  EXPECT_EQ(Cluster({3, 7, 7}).without_vcpus(1).place_on(Placement::balance, 1), 2);
  EXPECT_EQ(Cluster({0}).place_on(Placement::balance, 1), -1);
}

TEST(Placement, RoundRobinGoesOnAfterTheLastOne) {
  EXPECT_EQ(Cluster({7, 7, 7}).place_on(Placement::round_robin, 1, 1), 1);
  EXPECT_EQ(Cluster({7, 7, 7}).place_on(Placement::round_robin, 1, 3), 0);
  EXPECT_EQ(Cluster({7, 0, 7}).place_on(Placement::round_robin, 1, 1), 2);
  EXPECT_EQ(Cluster({7, 0, 0}).place_on(Placement::round_robin, 1, 1), 0);
  EXPECT_EQ(Cluster({0, 0, 0}).place_on(Placement::round_robin, 1, 1), -1);
}

TEST(Placement, HomeProbesInItsOwnOrder) {
  const HomeOrder home("default", "f", 5);
  Cluster cluster({7, 7, 7, 7, 7});
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(cluster.place_on(Placement::home, 1), static_cast<int>(home[i]));
    cluster.without(home[i]);
  }
  EXPECT_EQ(cluster.place_on(Placement::home, 1), -1);
}

TEST(HomeOrder, ReachesEveryInvokerOnce) {
  for (std::uint32_t n = 1; n <= 64; ++n) {
    const HomeOrder home("tenant", "function", n);
    std::vector<bool> seen(n);
    for (std::uint32_t i = 0; i < n; ++i) seen[home[i]] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), n);
  }
}

}  // namespace
}  // namespace sluice::policy
