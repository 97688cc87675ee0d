// The whole state as bytes and back.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "core/scheduler.h"

namespace sluice::core {
namespace {

constexpr std::string_view kSaveMagic = "sluicesave";
constexpr std::uint8_t kSaveVersion = 16;  // of the bytes; grows when what is saved changes

// How many requests and batches use an application is not saved but counted.
void count_uses(State& state, Archive& archive) {
  const auto use = [&](ApplicationId application) {
    if (application.index() >= state.applications.models().size()) return archive.fail();
    state.applications.use(application);
  };
  for (const Request& request : state.requests.all())
    if (request.used) use(request.application);
  for (const Batch& batch : state.batches.all())
    if (batch.used && batch.application.valid()) use(batch.application);
}

}  // namespace

// Indexes are derived and rebuilt.
void State::visit(Archive& archive) {
  tenants.visit(archive);
  applications.visit(archive);
  archive(now, requests, runs, batches, arrivals, announced, answers, releases, cancels, next_invocation, next_command,
          wake, prewarm_at, prewarm_after, changed, counters, loads, demands);
  queues.visit(archive);
  books.visit(archive);
  policies.dispatch->visit(archive);
  policies.admission->visit(archive);
  policies.prewarm->visit(archive);
  if (archive.is_loading() && archive.ok()) count_uses(*this, archive);
}

std::string Scheduler::save() {
  std::string out(kSaveMagic);
  out += static_cast<char>(kSaveVersion);
  Archive archive = Archive::saving(out);
  state_.visit(archive);
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
  state_.visit(archive);
  if (!archive.ok() || !archive.at_end())
    return Error{ErrorCode::invalid, "the saved state is cut off or was made by another scheduler"};
  return Done{};
}

}  // namespace sluice::core
