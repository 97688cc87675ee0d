#include "invoker/agent_link.h"

#include <utility>

namespace sluice::invoker {

AgentLink::AgentLink(AgentOptions options, data::Arenas& arenas, data::ObjectStore& objects, const Machines& machines)
    : agent_(std::move(options), arenas, objects,
             {.event = [this](Event event) { heard_.events.push_back(std::move(event)); },
              .log =
                  [this](BatchId batch, const std::string& line) {
                    heard_.printed.push_back({batch, line});
                  },
              .note = machines.note,
              .sample = [this](bus::Sampled sample) { heard_.samples.push_back(std::move(sample)); },
              .forms = machines.forms}) {
  std::uint32_t next = 0;
  for (const NodeGroup& group : machines.nodes) {
    NodeGroup one = group;
    one.count = 1;
    for (std::uint32_t i = 0; i < group.count; ++i)
      heard_.events.emplace_back(InvokerJoined{.id = InvokerId(next++), .epoch = machines.epoch, .capacity = one});
  }
}

void AgentLink::receive(Time, bus::Heard& out) {
  agent_.look();
  if (out.empty()) return std::swap(out, heard_);
  for (Event& event : heard_.events) out.events.push_back(std::move(event));
  for (bus::Printed& printed : heard_.printed) out.printed.push_back(std::move(printed));
  for (bus::Sampled& sample : heard_.samples) out.samples.push_back(std::move(sample));
  heard_.clear();
}

}  // namespace sluice::invoker
