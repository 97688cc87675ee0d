#include "policy/load_wait.h"

#include <algorithm>

#include "policy/loading.h"

namespace sluice::policy {

double load_wait_ms(const View& view, const Queue& queue, const SluiceModel& model, std::span<const QueueId> stages) {
  double at = 0, waits = 0;
  for (auto stage = std::optional(queue.model_stage); stage; stage = model.next(*stage)) {
    if (!stages[*stage].valid()) continue;  // it runs nothing
    const SharedFunction& function = view.functions[view.queue(stages[*stage]).shared.index()];
    const double stage_ms = model.choices(*stage).front().ms;
    if (has_ready(view, function)) {
      at += stage_ms;
      continue;
    }
    const Stock stock = stock_of(view, function);
    const Level from = stock.on_host ? Level::host : Level::none;
    const double ready = stock.first_ready < Time::max() ? (stock.first_ready - view.now).to_ms()
                                                         : load_ms(view, function, from, function.level);
    waits += std::max(0.0, ready - at);
    at = std::max(at, ready) + stage_ms;
  }
  return waits;
}

std::optional<Time> loaded_at(const View& view, const Queue& queue, InvokerId invoker) {
  for (const std::uint32_t slot : view.instances_of(queue.shared)) {
    const Instance& instance = view.instances[slot];
    if (instance.invoker == invoker && instance.unused && !instance.loading()) return instance.idle_since;
  }
  return std::nullopt;
}

}  // namespace sluice::policy
