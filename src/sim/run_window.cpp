#include "sim/run_window.h"

#include <algorithm>

namespace sluice::sim {

void RunWindow::request(const RequestRow& row) {
  if (!within(row.id)) return;
  requests_.push_back(row);
  requests_.back().application_name = {};
}

void RunWindow::action(const ActionRow& row) {
  const auto ours = [&](const BatchMember& member) { return within(member.request); };
  // Loads and evictions are kept while there are batches around them.
  const bool kept = row.kind == ActionKind::infer ? std::any_of(row.members.begin(), row.members.end(), ours)
                                                  : !actions_.empty() && requests_.size() < count_;
  if (!kept) return;
  actions_.push_back({.row = row, .stage = stage_of(row), .members = {row.members.begin(), row.members.end()}});
  ActionRow& own = actions_.back().row;
  own.application_name = own.function = own.stage = {};
  own.members = {};
}

std::uint32_t RunWindow::stage_of(const ActionRow& row) {
  const auto [it, fresh] = numbers_.try_emplace({row.application, std::string(row.stage), std::string(row.function)},
                                                static_cast<std::uint32_t>(stages_.size()));
  if (fresh) stages_.push_back({row.application, std::string(row.stage), std::string(row.function)});
  return it->second;
}

}  // namespace sluice::sim
