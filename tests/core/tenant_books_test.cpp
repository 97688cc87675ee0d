// Quotas of vCPUs and slices: what the batches of a tenant hold at once is bounded, whatever the scheduler wants.
#include "core/tenant_books.h"

#include <gtest/gtest.h>

#include "core/scene.h"

namespace sluice::core {
namespace {

struct Sum {
  std::uint32_t vcpu = 0, slices = 0;
};
Sum held(Scene& scene) {
  Sum out;
  for (const StartBatch& batch : scene.started()) {
    out.vcpu += batch.configuration.vcpu;
    out.slices += batch.configuration.slices;
  }
  return out;
}

QuotaChanged quota(std::optional<std::uint32_t> vcpu, std::optional<std::uint32_t> slices = {}) {
  return {.tenant = "default", .vcpu = vcpu, .slices = slices};
}

class EveryScheduler : public testing::TestWithParam<const char*> {};

TEST_P(EveryScheduler, HoldsNoMoreThanTheTenantMayAndAnswersAll) {
  Scene scene({stage("a"), stage("b", {0}, 1)}, GetParam());
  scene.invoker(0, 8).see(quota(2)).within(60'000);
  for (std::uint64_t id = 1; id <= 12; ++id) scene.arrive(id);
  for (double now = 1; now < 2'000 && scene.replies().size() < 12; now += 10) {
    scene.at(now).decide();
    EXPECT_LE(held(scene).vcpu, 2u);
    if (!scene.started().empty()) scene.finish();
  }
  EXPECT_EQ(scene.replies().size(), 12u);
}
INSTANTIATE_TEST_SUITE_P(Named, EveryScheduler,
                         testing::Values("sluice", "fifo", "frontier", "best-fit", "esg", "infless", "fast-gshare",
                                         "kaas-round-robin", "orion", "aquatope"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(TenantQuota, HoldsForSlicesAsForVcpus) {
  Scene scene({stage("a")});
  scene.invoker(0).see(quota({}, 1));
  scene.arrive(1).arrive(2).arrive(3).arrive(4).arrive(5).arrive(6);
  scene.decide();
  EXPECT_EQ(held(scene).slices, 1u);
}

TEST(TenantQuota, IsNothingToOtherTenants) {
  Scene scene({stage("a")});
  scene.deploy({stage("b")}, "acme").invoker(0).see(quota(0)).arrive(1).to(1).arrive(2);
  EXPECT_EQ(scene.decide(), Starts{"b of 2"});
  scene.see(QuotaChanged{.tenant = "acme", .vcpu = 0, .slices = {}}).see(quota({}));
  scene.arrive(3);
  EXPECT_EQ(scene.at(1).decide(), Starts{"a of 1"});
}

TEST(TenantQuota, IsOverAllApplicationsAndMachinesOfATenant) {
  Scene scene({stage("a")});
  scene.deploy({stage("b")}).invoker(0).invoker(1).see(quota(1)).arrive(1).to(1).arrive(2);
  EXPECT_EQ(scene.decide().size(), 1u);
  EXPECT_EQ(scene.finish().at(10).decide().size(), 1u);
}

TEST(TenantQuota, LoweredEndsNothingThatRuns) {
  Scene scene({stage("a")});
  scene.invoker(0).arrive(1);
  scene.decide();
  scene.at(1).arrive(2).decide();
  EXPECT_EQ(held(scene).vcpu, 2u);
  scene.at(2).see(quota(1)).arrive(3);
  EXPECT_EQ(scene.decide(), Starts{});
  EXPECT_EQ(scene.finish().at(3).decide(), Starts{});
  EXPECT_EQ(scene.finish().at(4).decide(), Starts{"a of 3"});
}

TEST(TenantQuota, IsGivenBackByBatchesThatFailAndMachinesThatAreLost) {
  Scene scene({stage("a")});
  scene.invoker(0).invoker(1).see(quota(1)).arrive(1);
  scene.decide();
  EXPECT_EQ(scene.crash().at(1).decide(), Starts{"a of 1"});
  const std::uint32_t at = scene.started().front().invoker.value();
  EXPECT_EQ(scene.lose(at).at(2).decide(), Starts{"a of 1"});
}

TEST(TenantQuota, IsSaved) {
  Scene scene({stage("a")});
  scene.deploy({stage("b")}, "acme").invoker(0).see(quota(1)).arrive(1);
  scene.decide();
  scene.reload().at(1).arrive(2).to(1).arrive(3);
  EXPECT_EQ(scene.decide(), Starts{"b of 3"});
  EXPECT_EQ(scene.finish().at(2).reload().decide(), Starts{"a of 2"});
}

}  // namespace
}  // namespace sluice::core
