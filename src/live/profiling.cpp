#include "live/profiling.h"

#include <chrono>
#include <future>

#include "base/hash.h"
#include "base/text.h"
#include "domain/limits.h"
#include "invoker/profiler.h"
#include "live/branch_text.h"
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

// Of an application by its name: another version of it has mostly the same conditions.
std::uint64_t branches_key(const Application& application) {
  Hash hash;
  hash.add(std::string_view("branches"));
  hash.add(std::string_view(application.tenant));
  hash.add(std::string_view(application.name));
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

void Profiling::say(Remark::Level level, std::string text) const {
  if (options_.say) options_.say({.level = level, .component = "profiles", .text = std::move(text)});
}

void Profiling::watch(const Application& application, std::uint32_t version, const std::vector<std::uint64_t>& keys) {
  Watched watched{.keys = keys};
  for (std::size_t f = 0; f < keys.size(); ++f) {
    const Function& function = application.functions[f];
    watched.kept.push_back(function.profile);
    auto learned = find(learned_key(keys[f]));
    if (!learned) continue;
    watched.kept.back() = *learned;
    runner_.post(Profiled{application.tenant, application.name, version, function.name,
                          std::make_shared<const Profile>(std::move(*learned))});
  }
  if (const auto branches = reader_.profile(branches_key(application)); branches && *branches) {
    watched.branches = **branches;
    runner_.post(Branched{application.tenant, application.name, branches_of(watched.branches)});
  }
  const std::lock_guard lock(mutex_);
  watched_[{application.tenant, application.name, version}] = std::move(watched);
  // Of those that were replaced nothing is learned any more; one may serve beside a canary.
  const auto first = watched_.lower_bound({application.tenant, application.name, 0});
  if (first != watched_.end() && std::get<2>(first->first) + limits::versions_kept_max < version) watched_.erase(first);
}

// Now and then, and once more at the end: what is learned after that is lost to a crash, and learned again.
void Profiling::look_at_learned() {
  const auto every = std::chrono::nanoseconds(options_.keep_every.count_ns());
  for (bool last = false; !last;) {
    {
      std::unique_lock lock(mutex_);
      last = stopped_.wait_for(lock, every, [&] { return stopping_.load(); });
    }
    auto told = std::make_shared<std::promise<std::vector<Believed>>>();
    auto answer = told->get_future();
    runner_.post(Telling{[told](auto believed) { told->set_value(std::move(believed)); }});
    if (answer.wait_for(std::chrono::seconds(1)) == std::future_status::ready) keep_learned(answer.get());
  }
}

void Profiling::keep_learned(const std::vector<Believed>& believed) {
  const std::lock_guard lock(mutex_);
  for (const Believed& one : believed) {
    const auto watched = watched_.find({one.application->tenant, one.application->name, one.version});
    if (watched == watched_.end()) continue;
    keep_times(*one.application, watched->second);
    keep_branches(one, watched->second);
  }
}

void Profiling::keep_times(const Application& believed, Watched& watched) {
  if (watched.keys.size() != believed.functions.size()) return;
  for (std::size_t f = 0; f < believed.functions.size(); ++f) {
    const Profile& now = believed.functions[f].profile;
    const auto* table = std::get_if<ProfileTable>(&now);
    if (table == nullptr || now == watched.kept[f]) continue;
    watched.kept[f] = now;
    measured_[learned_key(watched.keys[f])] = now;
    put(learned_key(watched.keys[f]), spec::write_profile_csv(*table));
  }
}

void Profiling::keep_branches(const Believed& believed, Watched& watched) {
  std::string now = branch_text(believed.branches);
  if (now == watched.branches) return;
  watched.branches = now;
  put(branches_key(*believed.application), std::move(now));
}

void Profiling::put(std::uint64_t key, std::string text) {
  writer_.post([key, text = std::move(text)](store::Store& s) { return s.put_profile(key, text); },
               [](const Status&) {});
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

Status Profiling::try_out(const Application& application, const std::vector<bool>& fine,
                          std::vector<std::string>& messages) const {
  constexpr Duration kMost = Duration::s(60);
  const auto arena = arenas_.of(application.tenant);
  if (!arena) return arena.error();
  invoker::Spawner spawner(options_.spawner);
  for (std::size_t f = 0; f < application.functions.size(); ++f) {
    const Function& function = application.functions[f];
    if (fine[f] || (function.cpu ? function.cpu : function.gpu)->runtime == Runtime::emulated) continue;
    if (stopping_) return Error{ErrorCode::unavailable, "the server is stopping"};
    std::string doubt;
    const invoker::ProfilePlan plan{.tenant = application.tenant, .patience = {.load_max = kMost}, .stop = &stopping_};
    if (const Status tried = invoker::try_once(function, plan, spawner, *arena, doubt); !tried) {
      return Error{ErrorCode::invalid, str("function '", function.name, "' does not work: ", tried.error().message)};
    }
    if (!doubt.empty()) {
      messages.push_back(str("function '", function.name, "' failed with inputs that were made up: ", doubt));
    }
  }
  return Done{};
}

void Profiling::measure(std::shared_ptr<const Application> application, std::uint32_t version,
                        std::vector<Unprofiled> functions) {
  thread_.post([this, application = std::move(application), version, functions = std::move(functions)] {
    for (const Unprofiled& wanted : functions) {
      if (!stopping_) measure(*application, version, wanted);
    }
  });
}

void Profiling::measure(const Application& application, std::uint32_t version, const Unprofiled& wanted) {
  constexpr std::uint16_t kVcpuMax = 8;
  const Function& function = application.functions[wanted.function];
  invoker::ProfilePlan plan{.tenant = application.tenant, .budget = options_.budget};
  for (std::uint16_t v = 2; v <= options_.vcpu_max && v <= kVcpuMax; v = static_cast<std::uint16_t>(v * 2))
    plan.vcpu.push_back(v);
  invoker::Spawner spawner(options_.spawner);
  const auto arena = arenas_.of(application.tenant);
  if (!arena)
    return say(Remark::Level::warning, str("function '", function.name, "' was not profiled: ", arena.error().message));
  const auto table =
      invoker::measure(function, plan, spawner, *arena, [this](const auto&) { return !stopping_.load(); });
  if (stopping_) return;
  if (!table)
    return say(Remark::Level::warning, str("function '", function.name, "' was not profiled: ", table.error().message));
  keep(wanted.key, *table);
  runner_.post(
      Profiled{application.tenant, application.name, version, function.name, std::make_shared<const Profile>(*table)});
  say(Remark::Level::info, str("function '", function.name, "' is profiled: ", table->rows.size(), " configurations"));
}

void Profiling::keep(std::uint64_t key, const ProfileTable& table) {
  {
    const std::lock_guard lock(mutex_);
    measured_[key] = table;
  }
  put(key, spec::write_profile_csv(table));
}

}  // namespace sluice::live
