#include "plan/value_table.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::plan {
namespace {

constexpr double kHopelessShare = 1 - 1e-6;

}  // namespace

ValueTable::Place ValueTable::place(double remaining_ms) const {
  const double steps = remaining_ms / step_ms_;
  if (steps >= static_cast<double>(steps_)) return {steps_ - 1, 1};
  const auto point = static_cast<std::size_t>(steps);
  return {point, static_cast<float>(steps - static_cast<double>(point))};
}

const ValueTable::Level* ValueTable::level(std::size_t stage, BatchCap cap) const {
  const auto above = std::upper_bound(caps_.begin(), caps_.end(), cap);
  return above == caps_.begin() ? nullptr : &stages_[stage].levels[static_cast<std::size_t>(above - caps_.begin()) - 1];
}

Dollars ValueTable::on(const Curve& curve, double remaining_ms) const {
  if (remaining_ms < 0) return curve.late;
  const Place at = place(remaining_ms);
  return curve.at[at.point] + (curve.at[at.point + 1] - curve.at[at.point]) * at.fraction;
}

Dollars ValueTable::value(std::size_t stage, BatchCap cap, double remaining_ms) const {
  const Level* const found = level(stage, cap);
  return found == nullptr ? drop_price_ : on(found->value, remaining_ms);
}

Dollars ValueTable::after(std::size_t stage, BatchCap cap, double remaining_ms) const {
  const Level* const found = level(stage, cap);
  return found == nullptr ? drop_price_ : on(found->after, remaining_ms);
}

bool ValueTable::hopeless(std::size_t stage, BatchCap cap, double remaining_ms) const {
  return value(stage, cap, remaining_ms) >= kHopelessShare * drop_price_;
}

ValueTable::Decision ValueTable::decide(std::size_t stage, BatchCap cap, double remaining_ms) const {
  const Level* const found = level(stage, cap);
  CHECK(found != nullptr);
  Decision out;
  out.entries_ = stages_[stage].entries.data();
  out.late_ = found->after.late;
  if (remaining_ms < 0) {
    out.low_ = out.high_ = found->late.data();
    return out;
  }
  const Place at = place(remaining_ms);
  out.low_ = found->cells.data() + at.point * found->rows;
  out.high_ = out.low_ + found->rows;
  out.fraction_ = at.fraction;
  return out;
}

std::size_t ValueTable::bytes() const {
  std::size_t floats = 0, entries = 0;
  for (const Stage& stage : stages_) {
    entries += stage.entries.size();
    for (const Level& l : stage.levels)
      floats += l.value.at.size() + l.after.at.size() + l.cells.size() + l.late.size();
  }
  return floats * sizeof(float) + entries * sizeof(Decision::Entry);
}

}  // namespace sluice::plan
