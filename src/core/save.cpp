// The whole state as bytes and back.
#include "base/text.h"
#include "core/scheduler.h"

namespace sluice::core {
namespace {

constexpr std::string_view kSaveMagic = "sluicesave";
constexpr std::uint8_t kSaveVersion = 8;  // of the bytes; grows when what is saved changes

}  // namespace

void Scheduler::count_uses(Archive& archive) {
  for (const Request& request : requests_.all()) {
    if (!request.used) continue;
    if (request.application.index() >= applications_.models().size()) return archive.fail();
    applications_.use(request.application);
  }
  for (const Batch& batch : batches_.all()) {
    if (!batch.used) continue;
    if (!batch.application.valid()) continue;
    if (batch.application.index() >= applications_.models().size()) return archive.fail();
    applications_.use(batch.application);
  }
}

// Indexes are derived and rebuilt.
void Scheduler::visit(Archive& archive) {
  tenants_.visit(archive);
  applications_.visit(archive);
  archive(now_, requests_, runs_, batches_, arrivals_, announced_, answers_, releases_, cancels_, next_invocation_,
          next_command_, wake_, prewarm_at_, prewarm_after_, changed_, counters_, loads_, demands_);
  queues_.visit_waiting(archive);
  books_.visit(archive);
  policies_.dispatch->visit(archive);
  policies_.admission->visit(archive);
  policies_.prewarm->visit(archive);
  if (policies_.transform != nullptr) policies_.transform->visit(archive);
  if (archive.is_loading() && archive.ok()) count_uses(archive);
}

std::string Scheduler::save() {
  std::string out(kSaveMagic);
  out += static_cast<char>(kSaveVersion);
  Archive archive = Archive::saving(out);
  visit(archive);
  return out;
}

Status Scheduler::load(std::string_view saved) {
  if (!saved.starts_with(kSaveMagic) || saved.size() == kSaveMagic.size())
    return Error{ErrorCode::invalid, "this is no saved state of a scheduler: it does not begin with 'sluicesave'"};
  const auto version = static_cast<std::uint8_t>(saved[kSaveMagic.size()]);
  if (version != kSaveVersion) {
    return Error{ErrorCode::invalid,
                 str("the saved state has format version ", version, "; this program reads ", kSaveVersion)};
  }
  Archive archive = Archive::loading(saved.substr(kSaveMagic.size() + 1));
  visit(archive);
  if (!archive.ok() || !archive.at_end())
    return Error{ErrorCode::invalid, "the saved state is cut off or was made by another scheduler"};
  return Done{};
}

}  // namespace sluice::core
