#include "live/profiling.h"

#include <chrono>
#include <future>

#include "base/hash.h"
#include "base/text.h"
#include "invoker/profiler.h"
#include "spec/csv/profile_csv.h"

namespace sluice::live {
namespace {

// What was learned is kept beside what was measured: a function that is measured anew begins without it.
std::uint64_t learned_key(std::uint64_t key) {
  Hash hash;
  hash.add(std::string_view("learned"));
  hash.add(key);
  return hash.value();
}

}  // namespace

Profiling::Profiling(Options options, data::Arenas& arenas, store::Writer& writer, store::Reader& reader,
                     Mailbox<Letter>& runner)
    : options_(std::move(options)), arenas_(arenas), writer_(writer), reader_(reader), runner_(runner) {
  watcher_ = std::thread([this] { look_at_learned(); });
}

void Profiling::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_one();
  if (watcher_.joinable()) watcher_.join();
  thread_.stop();
}

void Profiling::say(const std::string& line) const {
  if (options_.say) options_.say(line);
}

void Profiling::watch(const Application& application, const std::vector<std::uint64_t>& keys) {
  Watched watched{.keys = keys};
  for (std::size_t f = 0; f < keys.size(); ++f) {
    const Function& function = application.functions[f];
    watched.kept.push_back(function.profile);
    auto learned = find(learned_key(keys[f]));
    if (!learned) continue;
    watched.kept.back() = *learned;
    runner_.post(Profiled{application.tenant, application.name, function.name,
                          std::make_shared<const Profile>(std::move(*learned))});
  }
  const std::lock_guard lock(mutex_);
  watched_[{application.tenant, application.name}] = std::move(watched);
}

// Now and then, and once more at the end: what is learned after that is lost to a crash, and learned again.
void Profiling::look_at_learned() {
  const auto every = std::chrono::nanoseconds(options_.keep_every.count_ns());
  for (bool last = false; !last;) {
    {
      std::unique_lock lock(mutex_);
      last = stopped_.wait_for(lock, every, [&] { return stopping_.load(); });
    }
    auto told = std::make_shared<std::promise<std::vector<std::shared_ptr<const Application>>>>();
    auto answer = told->get_future();
    runner_.post(Telling{[told](auto believed) { told->set_value(std::move(believed)); }});
    if (answer.wait_for(std::chrono::seconds(1)) == std::future_status::ready) keep_learned(answer.get());
  }
}

void Profiling::keep_learned(const std::vector<std::shared_ptr<const Application>>& believed) {
  const std::lock_guard lock(mutex_);
  for (const auto& application : believed) {
    const auto watched = watched_.find({application->tenant, application->name});
    if (watched == watched_.end() || watched->second.keys.size() != application->functions.size()) continue;
    for (std::size_t f = 0; f < application->functions.size(); ++f) {
      const Profile& now = application->functions[f].profile;
      const auto* table = std::get_if<ProfileTable>(&now);
      if (table == nullptr || now == watched->second.kept[f]) continue;
      watched->second.kept[f] = now;
      const std::uint64_t key = learned_key(watched->second.keys[f]);
      measured_[key] = now;
      writer_.post([key, csv = spec::write_profile_csv(*table)](store::Store& s) { return s.put_profile(key, csv); },
                   [](const Status&) {});
    }
  }
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
