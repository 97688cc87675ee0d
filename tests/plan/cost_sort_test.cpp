#include "plan/cost_sort.h"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "base/rng.h"

namespace sluice::plan {
namespace {

struct Item {
  double cost = 0;
  int id = 0;
  friend bool operator==(const Item&, const Item&) = default;
};

bool less(const Item& a, const Item& b) {
  return std::tie(a.cost, a.id) < std::tie(b.cost, b.id);
}

void expect_sorted(std::vector<Item> items, CostSort<Item>& sort) {
  std::vector<Item> expected = items;
  std::sort(expected.begin(), expected.end(), less);
  sort(items, less);
  EXPECT_EQ(items, expected);
}

TEST(CostSort, SortsLikeSort) {
  Rng rng(1);
  CostSort<Item> sort;
  for (int i = 0; i < 300; ++i) {
    const double spread = 1 << rng.below(20);
    std::vector<Item> items(rng.below(400));
    for (Item& item : items) item = {1e-6 + rng.uniform(0, 1e-6) * spread, static_cast<int>(rng.below(1000))};
    expect_sorted(items, sort);
    for (Item& item : items) item.cost = static_cast<double>(rng.below(5));  // ties
    expect_sorted(items, sort);
  }
}

TEST(CostSort, SortsWhatFallsIntoOneClass) {
  Rng rng(2);
  CostSort<Item> sort;
  std::vector<Item> items(1000);
  for (Item& item : items) item = {rng.uniform(1, 1.001), static_cast<int>(rng.below(10))};
  items[3].cost = 0;
  items[7].cost = std::numeric_limits<double>::max();
  expect_sorted(items, sort);
}

}  // namespace
}  // namespace sluice::plan
