#include "domain/run_path.h"

#include "base/text.h"

namespace sluice {

const Workflow& workflow_of(const Application& application, const RunPath& path) {
  const Workflow* workflow = &application.workflow;
  for (const ItemOf& item : path) workflow = &workflow->at(item.stage).foreach->body.front();
  return *workflow;
}

std::string stage_name(const Application& application, const RunPath& path, StageId stage) {
  std::string out;
  const Workflow* workflow = &application.workflow;
  for (const ItemOf& item : path) {
    out += str(workflow->at(item.stage).name, "/");
    workflow = &workflow->at(item.stage).foreach->body.front();
  }
  return out + workflow->at(stage).name;
}

}  // namespace sluice
