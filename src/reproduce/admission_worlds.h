// The worlds of Ramkumar's thesis on admission (UCB/EECS-2022-88, chapter 4), as experiments: its chain of three
// functions on one CPU node and one GPU node, and around it other loads, arrivals and workflows.
//
// The thesis bills only a part of the time that a function holds its node (3 of 4 ms of f1 on the CPU), and a node runs
// one function at a time. Both come out exactly if the node has 50 vCPUs and 5 slices, of which a function takes as
// many as its cost asks for (45, 50 and 30; 4, 3 and 5): any two of them are more than there is.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "domain/experiment.h"
#include "reproduce/esg_settings.h"

namespace sluice::reproduce {

// One unit of cost of the thesis; its limit is 60 of them.
inline constexpr Dollars kCostUnit = 12e-6;
inline constexpr double kCostLimit = 60;

enum class ThesisDag { chain, branch };  // f1 → f2 → f3; f1 → ten of f2 → f3

// Requests a second that one CPU node and one GPU node can serve at the most: 7/26 and 1/17 of a millisecond.
[[nodiscard]] double capacity_of(ThesisDag dag);

// 1200 requests, half of them in the first 120 ms, the others until 1200 ms. Times are exact.
[[nodiscard]] Experiment table_41(Duration objective);

enum class Shape { uniform, burst, pillar, poisson };
struct ExtendedWorld {
  ThesisDag dag = ThesisDag::chain;
  Shape shape = Shape::uniform;
  double load = 1;        // of the capacity
  double time_error = 0;  // standard deviation of times, as a part of them
};
[[nodiscard]] std::string name_of(const ExtendedWorld& world);  // "chain/burst/load-2/error-10%"
[[nodiscard]] Experiment extended(const ExtendedWorld& world);

// ESG's evaluation with so many times its heavy load, for 30 s: sixteen machines, four applications, profiles with
// batches, times that scatter. What holds in the worlds above need not hold there.
struct EsgOverload {
  Slo objective = Slo::relaxed;
  double load = 1;
};
[[nodiscard]] std::string name_of(const EsgOverload& world);  // "esg-relaxed/load-2/error-5%"
[[nodiscard]] Experiment esg_overload(const EsgOverload& world);

}  // namespace sluice::reproduce
