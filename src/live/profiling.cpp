#include "live/profiling.h"

#include "base/text.h"
#include "invoker/profiler.h"
#include "spec/profile_csv.h"

namespace sluice::live {

Profiling::Profiling(Options options, data::Arenas& arenas, store::Writer& writer, store::Reader& reader,
                     Mailbox<Letter>& runner)
    : options_(std::move(options)), arenas_(arenas), writer_(writer), reader_(reader), runner_(runner) {}

void Profiling::stop() {
  stopping_ = true;
  thread_.stop();
}

void Profiling::say(const std::string& line) const {
  if (options_.say) options_.say(line);
}

// Memory first: the store may lag behind, or be full.
std::optional<Profile> Profiling::find(std::uint64_t key) const {
  {
    const std::lock_guard lock(mutex_);
    const auto it = measured_.find(key);
    if (it != measured_.end()) return it->second;
  }
  const auto rows = reader_.profile(key);
  if (!rows || !*rows) return std::nullopt;
  auto csv = spec::read_profile_csv(**rows);
  if (!csv.ok()) return std::nullopt;
  return Profile(std::move(csv.table));
}

void Profiling::measure(std::shared_ptr<const Application> application, std::vector<Unprofiled> functions) {
  thread_.post([this, application = std::move(application), functions = std::move(functions)] {
    for (const Unprofiled& wanted : functions) {
      if (!stopping_) measure(*application, wanted);
    }
  });
}

void Profiling::measure(const Application& application, const Unprofiled& wanted) {
  constexpr std::uint16_t kVcpuMax = 8;
  const Function& function = application.functions[wanted.function];
  invoker::ProfilePlan plan{.tenant = application.tenant, .budget = options_.budget};
  for (std::uint16_t v = 2; v <= options_.vcpu_max && v <= kVcpuMax; v = static_cast<std::uint16_t>(v * 2))
    plan.vcpu.push_back(v);
  invoker::Spawner spawner(options_.spawner);
  const auto arena = arenas_.of(application.tenant);
  if (!arena) return say(str("function '", function.name, "' was not profiled: ", arena.error().message));
  const auto table =
      invoker::measure(function, plan, spawner, *arena, [this](const auto&) { return !stopping_.load(); });
  if (stopping_) return;
  if (!table) return say(str("function '", function.name, "' was not profiled: ", table.error().message));
  keep(wanted.key, *table);
  runner_.post(Profiled{application.tenant, application.name, function.name, std::make_shared<const Profile>(*table)});
  say(str("function '", function.name, "' is profiled: ", table->rows.size(), " configurations"));
}

void Profiling::keep(std::uint64_t key, const ProfileTable& table) {
  {
    const std::lock_guard lock(mutex_);
    measured_[key] = table;
  }
  writer_.post([key, csv = spec::write_profile_csv(table)](store::Store& s) { return s.put_profile(key, csv); },
               [](const Status&) {});
}

}  // namespace sluice::live
