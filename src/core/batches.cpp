#include "core/batches.h"

#include <algorithm>

namespace sluice::core {

bool Batch::is(InvokerId at, const RunningBatch& theirs) const {
  if (invoker != at || configuration != theirs.configuration || positions != theirs.positions) return false;
  if (!application.valid()) return true;  // brought along before
  return std::equal(members.begin(), members.end(), theirs.invocations.begin(), theirs.invocations.end(),
                    [](const policy::Waiting& member, InvocationId other) { return member.invocation == other; });
}

Slot Batches::add(BatchId id) {
  const Slot slot = values_.take();
  values_[slot].id = id;
  values_[slot].cancelled = false;
  values_[slot].members.clear();
  values_[slot].after.clear();
  values_[slot].followers.clear();
  slots_.emplace(id, slot);
  pass_over(id);
  return slot;
}

void Batches::remove(Slot slot) {
  slots_.erase(values_[slot].id);
  values_.give_back(slot);
}

Slot Batches::find(BatchId id) const {
  const auto it = slots_.find(id);
  return it == slots_.end() ? kNoSlot : it->second;
}

std::vector<BatchId> Batches::at(InvokerId invoker) const {
  std::vector<BatchId> out;
  for (const Batch& batch : values_) {
    if (batch.used && batch.invoker == invoker) out.push_back(batch.id);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void Batches::visit(Archive& archive) {
  archive(values_, next_);
  if (!archive.is_loading()) return;
  slots_.clear();
  for (Slot slot = 0; slot < values_.size(); ++slot) {
    if (values_[slot].used) slots_.emplace(values_[slot].id, slot);
  }
}

}  // namespace sluice::core
