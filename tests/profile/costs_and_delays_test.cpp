// Prices, cold starts and transfers.
#include <gtest/gtest.h>

#include "profile/cold_start.h"
#include "profile/cost.h"
#include "profile/transfer.h"

namespace sluice::profile {
namespace {

TEST(Cost, IsWhatABatchHoldsSharedByItsInvocations) {
  const Prices prices;  // 0.034 and 0.67 dollars an hour
  EXPECT_DOUBLE_EQ(cost_per_invocation(configuration(1, 1, 1), 3.6e6, prices), 0.704);
  EXPECT_DOUBLE_EQ(cost_per_invocation(configuration(8, 4, 2), 100, prices), (4 * .034 + 2 * .67) / 3.6e6 * 100 / 8);
  EXPECT_DOUBLE_EQ(cost_per_invocation(configuration(1, 2, 0), 100, prices), 2 * .034 / 3.6e6 * 100);
}

TEST(ColdStart, SumsTheStepsBetweenTwoLevels) {
  const ColdStart steps{.process = Duration::ms(1), .host = Duration::ms(20), .device = Duration::ms(300)};
  EXPECT_EQ(load_time(steps, Level::none, Level::device), steps.total());
  EXPECT_EQ(load_time(steps, Level::none, Level::process), Duration::ms(1));
  EXPECT_EQ(load_time(steps, Level::process, Level::host), Duration::ms(20));
  EXPECT_EQ(load_time(steps, Level::process, Level::device), Duration::ms(320));
  EXPECT_EQ(load_time(steps, Level::host, Level::device), Duration::ms(300));
  EXPECT_EQ(load_time(steps, Level::device, Level::device), Duration());
  EXPECT_EQ(load_time(steps, Level::device, Level::process), Duration());
}

TEST(Transfer, CostsALocalDelayAndOnceMoreForRemoteInputs) {
  const Transfer transfer;
  EXPECT_EQ(transfer_time(transfer, {.local = Bytes::mb(8), .remote = {}}), Duration::ms(2.5));
  EXPECT_EQ(transfer_time(transfer, {.local = {}, .remote = Bytes::mb(2.5)}), Duration::ms(25.5));
  EXPECT_EQ(transfer_time(transfer, {.local = Bytes::mb(8), .remote = Bytes::mb(2.5)}), Duration::ms(27.5));
}

TEST(Transfer, IsFreeOnlyWithoutAPredecessor) {
  const Transfer transfer;
  EXPECT_EQ(transfer_time(transfer, {}), Duration());
  EXPECT_EQ(transfer_time(transfer, {.local = Bytes(), .remote = {}}), Duration::ms(.5));
  EXPECT_EQ(transfer_time(transfer, {.local = {}, .remote = Bytes()}), Duration::ms(5.5));
}

TEST(Transfer, FollowsTheRatesItIsGiven) {
  const Transfer slow{.local_bytes_per_s = 1, .remote_bytes_per_s = 1, .local_delay = {}, .remote_delay = {}};
  EXPECT_EQ(transfer_time(slow, {.local = Bytes(3), .remote = Bytes(4)}), Duration::s(7));
  EXPECT_EQ(transfer_time(slow, {.local = Bytes(INT64_MAX), .remote = {}}), limits::duration_max);
}

}  // namespace
}  // namespace sluice::profile
