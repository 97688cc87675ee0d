// The three systems that Ramkumar's thesis compares in its Table 4.1, as its simulator runs them
// (docs/reproduce-admission.md). Where the stages of a request run is fixed when the request arrives; what waits
// starts in the order in which requests arrived, one invocation a batch. None of them looks at what else is waiting.
//   thesis-fifo       every stage in its fastest configuration
//   thesis-whole-dag  all stages on GPUs if that is in time and within the limit of cost on free machines, else all on
//                     CPUs, else the request is refused. The thesis calls it Clockwork, which it is not.
//   thesis-random     a plan that no other dominates, drawn at random for every request. As the thesis has it, the draw
//                     is written into one map for all requests of the application, so that it changes what those in
//                     the system run with (fault M1); `own` 1: every request keeps the plan that was drawn for it
#pragma once
#include <memory>

#include "policy/policy.h"

namespace sluice::policy {

enum class Thesis : std::uint8_t { fifo, whole_dag, random };

[[nodiscard]] std::unique_ptr<Dispatch> make_thesis(Thesis system, const Parameters& parameters);
[[nodiscard]] std::unique_ptr<Admission> make_whole_dag_admission();

}  // namespace sluice::policy
