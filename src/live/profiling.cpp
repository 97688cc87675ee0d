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
    runner_.post(Profiled{
        keys[f], {.state = ProfileState::learned, .why = {}}, std::make_shared<const Profile>(std::move(*learned))});
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
    const auto measured = measured_.find(watched.keys[f]);
    if (measured != measured_.end() && measured->second == now) continue;  // nothing was learned yet
    measured_[learned_key(watched.keys[f])] = now;
    put(learned_key(watched.keys[f]), spec::write_profile_csv(*table));
    runner_.post(Profiled{watched.keys[f], {.state = ProfileState::learned, .why = {}}});
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

Status Profiling::try_out(Prepared& prepared, const std::vector<bool>& fine) const {
  constexpr Duration kMost = Duration::s(60);
  const Application& application = prepared.application;
  const auto arena = arenas_.of(application.tenant);
  if (!arena) return arena.error();
  invoker::Spawner spawner(options_.spawner);
  for (std::size_t f = 0; f < application.functions.size(); ++f) {
    const Function& function = application.functions[f];
    if (fine[f] || (function.cpu ? function.cpu : function.gpu)->runtime == Runtime::emulated) continue;
    if (stopping_) return Error{ErrorCode::unavailable, "the server is stopping"};
    std::string doubt;
    invoker::ProfilePlan plan{.tenant = application.tenant, .patience = {.load_max = kMost}, .stop = &stopping_};
    if (prepared.samples[f]) {
      auto placed = prepared.samples[f]->place(function, **arena);
      if (!placed) return placed.error();
      plan.sample = std::move(*placed);
    }
    if (const Status tried = invoker::try_once(function, plan, spawner, *arena, doubt); !tried) {
      return Error{ErrorCode::invalid, str("function '", function.name, "' does not work: ", tried.error().message)};
    }
    if (doubt.empty()) continue;
    if (plan.sample) {
      return Error{ErrorCode::invalid, str("function '", function.name, "' fails with its own `sample:`: ", doubt)};
    }
    prepared.messages.push_back(
        str("warning: function '", function.name, "' failed with inputs that were made up: ", doubt));
  }
  return Done{};
}

void Profiling::measure(std::shared_ptr<const Application> application, std::vector<Unprofiled> functions) {
  thread_.post([this, application = std::move(application), functions = std::move(functions)] {
    for (const Unprofiled& wanted : functions) {
      if (!stopping_) measure(*application, wanted);
    }
  });
}

void Profiling::measure(FirstRequest request) {
  constexpr std::size_t kBytesMax = 256u << 20;  // of all samples that wait
  const std::size_t bytes = request.inputs.size();
  if (sample_bytes_ + bytes > kBytesMax) {
    return runner_.post(Profiled{request.key, {.state = ProfileState::waiting, .why = {}}});
  }
  sample_bytes_ += bytes;
  thread_.post([this, request = std::move(request), bytes] {
    if (!stopping_) {
      measure(*request.application, {request.function, request.key, Sample::of_request(request.inputs)});
    }
    sample_bytes_ -= bytes;
  });
}

void Profiling::measure(const Application& application, const Unprofiled& wanted) {
  const Function& function = application.functions[wanted.function];
  if (auto known = find(wanted.key)) {  // of another application that has it, meanwhile
    return tell_measured(wanted.key, std::move(*known));
  }
  const auto table = measured(application, wanted);
  if (stopping_) return;
  if (!table) return not_measured(function, wanted, table.error());
  keep(wanted.key, *table);
  tell_measured(wanted.key, *table);
  say(Remark::Level::info, str("function '", function.name, "' is profiled: ", table->rows.size(), " configurations"));
}

void Profiling::tell_measured(std::uint64_t key, Profile profile) {
  runner_.post(
      Profiled{key, {.state = ProfileState::measured, .why = {}}, std::make_shared<const Profile>(std::move(profile))});
}

// A function may be right to refuse inputs that were made up: then those of its first request are taken.
void Profiling::not_measured(const Function& function, const Unprofiled& wanted, const Error& why) {
  const bool doubtful = !wanted.sample && why.code == ErrorCode::invalid;
  say(Remark::Level::warning, str("function '", function.name, "' was not profiled: ", why.message));
  runner_.post(
      Profiled{wanted.key, {.state = doubtful ? ProfileState::waiting : ProfileState::failed, .why = why.message}});
}

Result<ProfileTable> Profiling::measured(const Application& application, const Unprofiled& wanted) {
  constexpr std::uint16_t kVcpuMax = 8;
  const Function& function = application.functions[wanted.function];
  invoker::ProfilePlan plan{.tenant = application.tenant, .budget = options_.budget};
  for (std::uint16_t v = 2; v <= options_.vcpu_max && v <= kVcpuMax; v = static_cast<std::uint16_t>(v * 2))
    plan.vcpu.push_back(v);
  invoker::Spawner spawner(options_.spawner);
  const auto arena = arenas_.of(application.tenant);
  if (!arena) return arena.error();
  if (wanted.sample) {
    auto placed = wanted.sample->place(function, **arena);
    if (!placed) return placed.error();
    plan.sample = std::move(*placed);
  }
  return invoker::measure(function, plan, spawner, *arena, [this](const auto&) { return !stopping_.load(); });
}

void Profiling::keep(std::uint64_t key, const ProfileTable& table) {
  {
    const std::lock_guard lock(mutex_);
    measured_[key] = table;
  }
  put(key, spec::write_profile_csv(table));
}

}  // namespace sluice::live
