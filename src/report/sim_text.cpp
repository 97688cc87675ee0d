#include "report/sim_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/table.h"

namespace sluice::report {

std::string sim_table(const std::vector<Runs>& schedulers) {
  std::vector<std::string> head{"scheduler"};
  for (const Figure& figure : figures(schedulers.front())) head.push_back(figure.heading);
  Table table(head);
  for (const Runs& runs : schedulers) {
    std::vector<std::string> row{runs.front()->scheduler};
    for (const Figure& figure : figures(runs)) row.push_back(to_string(figure));
    table.add(std::move(row));
  }
  std::string out = table.text();
  for (const Runs& runs : schedulers)
    out += fmt::format("{}: hash of all commands {:016x}\n", runs.front()->scheduler, hash_of(runs));
  return out;
}

std::string sim_json(const Experiment& experiment, const std::vector<Runs>& schedulers) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Runs& runs : schedulers) list.push_back(figures_json(runs));
  const nlohmann::ordered_json out{{"experiment", experiment.name}, {"seed", experiment.seed}, {"schedulers", list}};
  return out.dump(2);
}

}  // namespace sluice::report
