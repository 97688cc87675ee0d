#include "policy/table_bill.h"

#include <gtest/gtest.h>

#include <string>

#include "base/save.h"

namespace sluice::policy {
namespace {

const QueueId kFirst(0), kSecond(1);

TEST(TableBill, ChargesWhatQueuesShareOnce) {
  TableBill bill;
  bill.uses(kFirst, 7);
  bill.table(7, 0, 100);
  bill.uses(kSecond, 7);
  bill.table(7, 0, 100);
  bill.table(7, 3, 50);
  EXPECT_EQ(bill.owed(), 150u);
  bill.paid();
  bill.table(7, 3, 50);
  EXPECT_EQ(bill.owed(), 0u);
}

TEST(TableBill, ChargesAgainWhatNobodyHadMeanwhile) {
  TableBill bill;
  bill.uses(kFirst, 7);
  bill.uses(kSecond, 7);
  bill.table(7, 0, 100);
  bill.paid();
  bill.uses(kFirst, 8);
  bill.table(7, 0, 100);
  EXPECT_EQ(bill.owed(), 0u) << "the second queue has it";
  bill.forget(kSecond);
  bill.table(7, 0, 100);
  EXPECT_EQ(bill.owed(), 100u);
}

TEST(TableBill, ChargesARuleForEveryRateAndAgainForAnotherKindOrPlan) {
  TableBill bill;
  bill.uses(kFirst, 7);
  for (const std::size_t rate : {3u, 9u, 3u}) bill.rule(kFirst, 0, rate, 10);
  EXPECT_EQ(bill.owed(), 20u);
  bill.rule(kFirst, 1, 3, 10);
  bill.rule(kFirst, 0, 3, 10);
  EXPECT_EQ(bill.owed(), 40u);
  bill.uses(kFirst, 8);
  bill.rule(kFirst, 0, 3, 10);
  EXPECT_EQ(bill.owed(), 50u);
}

TEST(TableBill, IsSavedWhole) {
  TableBill bill;
  bill.uses(kFirst, 7);
  bill.table(7, 2, 100);
  bill.rule(kFirst, 2, 5, 10);
  std::string bytes;
  ASSERT_TRUE(save(bill, bytes));
  auto loaded = load<TableBill>(bytes);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->owed(), 110u);
  loaded->uses(kFirst, 7);
  loaded->table(7, 2, 100);
  loaded->rule(kFirst, 2, 5, 10);
  EXPECT_EQ(loaded->owed(), 110u);
}

}  // namespace
}  // namespace sluice::policy
