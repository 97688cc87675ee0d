// What `sluice plan` prints: which configuration every stage gets, what it costs, what the alternatives are, and why.
#pragma once
#include <string>
#include <string_view>

#include "domain/application.h"
#include "report/plan_answer.h"

namespace sluice::report {

struct PlanShown {
  std::string_view planner_name;
  double elapsed_ms = 0;  // of the objective, before the question
  const Application& application;
  const plan::FrontierPlanner& planner;  // answers "what if", whoever answered the question
  const PlanQuestion& question;
  const PlanAnswer& answer;
};
// To be read behind the application's name: "within 420 ms; …", then plan, reasons, alternatives and trade-offs.
[[nodiscard]] std::string plan_text(const PlanShown& shown);
[[nodiscard]] std::string plan_json(const PlanShown& shown);

}  // namespace sluice::report
