#include "sim/oracle/circles.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace sluice::sim {
namespace {

constexpr std::uint32_t kOfEachPlace = 20;  // what is loaded ahead for nobody included

}  // namespace

Circles::Count& Circles::count(const History& history, const History::Instance& function) {
  const auto it = std::find_if(counts_.begin(), counts_.end(),
                               [&](const Count& c) { return history.same_function(c.function, function); });
  return it != counts_.end() ? *it : counts_.emplace_back(Count{function});
}

void Circles::loaded(const History& history, const LoadInstance& load) {
  if (!history.calls().empty()) count(history, {load.application, load.function}).loaded = true;
}

std::string Circles::evicted(const History& history, const EvictInstance& evict) {
  const History::Instance* instance = history.instance(evict.invoker, evict.instance);
  if (history.calls().empty() || instance == nullptr) return "";
  std::uint32_t places = 0;
  for (const auto& [id, machine] : history.machines()) places += 1 + machine.capacity.gpus;
  Count& of = count(history, *instance);
  if (!std::exchange(of.loaded, false) || ++of.rounds <= kOfEachPlace * places) return "";
  const Application& application = history.application(instance->application);
  return str("function '", application.function(instance->function).name, "' of '", application.name,
             "' was loaded and sent away ", of.rounds, " times and never ran");
}

void Circles::started(const History& history, const StartBatch& batch) {
  count(history, {batch.application, batch.function}).rounds = 0;
}

}  // namespace sluice::sim
