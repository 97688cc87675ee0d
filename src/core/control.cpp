#include "core/control.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "domain/alternatives.h"

namespace sluice::core {
namespace {

class ControlBuilder {
 public:
  ControlBuilder(ApplicationId id, const Plans& plans, Queues& queues, Control& out)
      : id_(id), plans_(plans), queues_(queues), out_(out) {}

  std::uint32_t add(const Workflow& workflow, const std::string& prefix) {
    const auto index = static_cast<std::uint32_t>(out_.workflows.size());
    out_.workflows.emplace_back();
    ControlWorkflow made;
    made.stages.resize(workflow.size());
    for (std::uint32_t i = 0; i < workflow.size(); ++i) {
      const Stage& stage = workflow.stages[i];
      ControlStage& control = made.stages[i];
      control.stage = &stage;
      control.predecessors = static_cast<std::uint32_t>(stage.after.size());
      control.needed = static_cast<std::uint32_t>(stage.join.needed(stage.after.size()));
      for (const StageId before : stage.after) made.stages[before.index()].successors.push_back(i);
      if (stage.kind == Stage::Kind::run) control.queue = add_queue(stage, prefix);
      if (stage.foreach && !stage.foreach->body.empty())
        control.body = add(stage.foreach->body.front(), str(prefix, stage.name, "/"));
    }
    for (const Stage& stage : workflow.stages) {
      ControlStage& control = made.stages[static_cast<std::size_t>(&stage - workflow.stages.data())];
      for (const Catch& c : stage.catches) {
        if (std::find(control.handlers.begin(), control.handlers.end(), c.handler.value()) == control.handlers.end())
          control.handlers.push_back(c.handler.value());
      }
      // A stage that only handles errors waits for those that could cause them as if they came before it.
      for (const std::uint32_t handler : control.handlers) {
        if (workflow.stages[handler].after.empty()) made.stages[handler].needed = ++made.stages[handler].predecessors;
      }
    }
    for (std::uint32_t i = 0; i < workflow.size(); ++i) {
      made.stages[i].exit = made.stages[i].successors.empty();
      if (made.stages[i].predecessors == 0) made.entries.push_back(i);
      if (!is_otherwise(workflow.stages[i])) continue;
      for (const StageId id : alternatives_of(workflow, workflow.stages[i]))
        made.stages[i].alternatives.push_back(id.value());
    }
    out_.workflows[index] = std::move(made);
    return index;
  }

 private:
  policy::QueueId add_queue(const Stage& stage, const std::string& prefix) {
    policy::Queue queue{.application = id_,
                        .function = stage.function,
                        .shared = out_.shared[stage.function.index()],
                        .model = plans_.workflow,
                        .entry = prefix.empty() && stage.after.empty()};
    const plan::WorkflowModel& model = *plans_.workflow;
    const std::size_t model_stage = model.find(prefix + stage.name);
    if (model_stage < model.stages.size()) {
      queue.model_stage = static_cast<std::uint32_t>(model_stage);
    } else {  // a stage of an error handler is in no plan: it is planned alone
      CHECK(handlers_ < plans_.handlers.size());
      queue.model = plans_.handlers[handlers_++];
      queue.handler = &stage;
    }
    out_.queues.push_back(queues_.put(std::move(queue)));
    return out_.queues.back();
  }

  ApplicationId id_;
  const Plans& plans_;
  std::size_t handlers_ = 0;  // that have their planner
  Queues& queues_;
  Control& out_;
};

}  // namespace

Control make_control(ApplicationId id, std::shared_ptr<const Application> application, const Plans& plans,
                     std::vector<policy::SharedFunctionId> shared, Queues& queues) {
  Control out{.application = std::move(application), .shared = std::move(shared)};
  (void)ControlBuilder(id, plans, queues, out).add(out.application->workflow, "");
  return out;
}

}  // namespace sluice::core
