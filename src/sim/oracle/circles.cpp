#include "sim/oracle/circles.h"

#include <algorithm>

#include "base/text.h"

namespace sluice::sim {
namespace {

constexpr std::uint32_t kLoadsOfEachGpu = 20;  // failures, crashes and what is loaded ahead for nobody included

}  // namespace

Circles::Count& Circles::count(const History& history, const History::Instance& function) {
  const auto it = std::find_if(counts_.begin(), counts_.end(),
                               [&](const Count& c) { return history.same_function(c.function, function); });
  return it != counts_.end() ? *it : counts_.emplace_back(Count{function});
}

std::string Circles::loaded(const History& history, const LoadInstance& load) {
  if (history.calls().empty()) return "";
  std::uint32_t places = 0;
  for (const auto& [id, machine] : history.machines()) places += 1 + machine.capacity.gpus;
  const std::uint32_t loads = ++count(history, {load.application, load.function}).loads;
  if (loads <= kLoadsOfEachGpu * places) return "";
  const Application& application = history.application(load.application);
  return str("function '", application.function(load.function).name, "' of '", application.name, "' was loaded ", loads,
             " times and never ran");
}

void Circles::started(const History& history, const StartBatch& batch) {
  count(history, {batch.application, batch.function}).loads = 0;
}

}  // namespace sluice::sim
