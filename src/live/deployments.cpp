#include "live/deployments.h"

#include "base/text.h"
#include "data/clock.h"

namespace sluice::live {

Result<Prepared> Deployments::prepared(const Deployment& deployment) {
  auto out = prepare(deployment, models_, options_.nodes, [this](std::uint64_t key) { return profiling_.find(key); });
  if (!out || deployment.dry_run) return out;
  out->files = models_.hold(out->application);
  if (const auto arena = arenas_.of(out->application.tenant); !arena) return arena.error();
  make_plans(*out);
  return out;
}

void Deployments::make_plans(Prepared& prepared) const {
  prepared.plans.push_back(core::make_plans(prepared.application, {}, options_.derive));
  for (const Application& alone : functions_alone(prepared.application))
    prepared.plans.push_back(core::make_plans(alone, {}, options_.derive));
}

void Deployments::restore(std::vector<store::DeployedApplication> applications) {
  for (store::DeployedApplication& application : applications) {
    Deployment deployment{.main = application.main};
    for (store::File& file : application.files) deployment.files.push_back({file.path, std::move(file.content)});
    deployment.principal = {.tenant = application.tenant, .role = Role::admin};
    auto ready = prepared(deployment);
    if (ready) ready->application.tenant = application.tenant;  // whatever the document says
    if (const auto arena = arenas_.of(application.tenant); ready && !arena) ready = arena.error();
    const auto tenant = owner_of(application.tenant);
    if (ready && !tenant) ready = tenant.error();
    if (ready) {
      (void)count_functions(ready->application, {});  // what was deployed stays, whatever the quota is now
      fine_.insert(ready->keys.begin(), ready->keys.end());
      install(std::move(*ready), application.version, tenant->id);
      continue;
    }
    runner_.post(Missing{application.tenant, application.name, application.version, ready.error().message});
    say({.level = Remark::Level::error,
         .text = str("application '", application.name, "' is UNAVAILABLE: ", ready.error().message)});
  }
  runner_.post(Barrier{options_.changed});
  clean_up();
}

void Deployments::say(Remark remark) const {
  remark.component = "applications";
  if (options_.say) options_.say(remark);
}

std::optional<OverQuota> Deployments::count_functions(const Application& application, const Quota& quota) {
  const std::lock_guard lock(functions_mutex_);
  const std::pair whose(application.tenant, application.name);
  std::size_t all = application.functions.size();
  for (const auto& [name, count] : functions_) {
    if (name.first == application.tenant && name != whose) all += count;
  }
  if (quota.functions && all > *quota.functions) {
    return OverQuota{.needed = static_cast<double>(all),
                     .available = static_cast<double>(*quota.functions),
                     .text = str("quota exceeded: ", all, " functions, allowed are ", *quota.functions),
                     .retry_after = std::nullopt};
  }
  functions_[whose] = application.functions.size();
  return std::nullopt;
}

Result<store::Tenant> Deployments::owner_of(const std::string& tenant) const {
  auto known = options_.tenant(tenant);
  if (known) return *std::move(known);
  return Error{ErrorCode::not_found, str("there is no tenant '", tenant, "': make it with `sluice tenants add NAME`")};
}

// The application itself and each of its functions alone.
void Deployments::install(Prepared prepared, std::uint32_t version, TenantId tenant) {
  auto application = std::make_shared<const Application>(std::move(prepared.application));
  Deploying letter{.application = application,
                   .functions = {},
                   .version = version,
                   .tenant = tenant,
                   .keys = prepared.keys,
                   .profiled = std::move(prepared.profiled),
                   .files = prepared.files,
                   .plans = std::move(prepared.plans)};
  for (Application& alone : functions_alone(*application)) {
    letter.functions.push_back(std::make_shared<const Application>(std::move(alone)));
  }
  runner_.post(std::move(letter));
  profiling_.watch(*application, prepared.keys);
  if (prepared.unprofiled.empty()) return;
  // Its files stay until it is measured, also if it is removed meanwhile.
  std::shared_ptr<const Application> leased(application.get(),
                                            [application, files = std::move(prepared.files)](const Application*) {});
  profiling_.measure(std::move(leased), std::move(prepared.unprofiled));
}

void Deployments::deploy(Deployment deployment, OnDeployed done) {
  thread_.post([this, deployment = std::move(deployment), done = std::move(done)] {
    auto ready = prepared(deployment);
    if (!ready || deployment.dry_run) models_.collect();  // what it would have needed
    if (!ready) return refuse(deployment, ready.error(), done);
    Deployed answer{.application = ready->application.name, .messages = ready->messages, .fits = ready->fits};
    if (deployment.dry_run) return done(std::move(answer));
    try_and_put(deployment, std::move(*ready), std::move(answer), done);
  });
}

// By tenant: whoever deploys functions that hang waits for them alone.
void Deployments::try_and_put(const Deployment& deployment, Prepared prepared, Deployed answer, OnDeployed done) {
  const std::string tenant = prepared.application.tenant;
  auto ready = std::make_shared<Prepared>(std::move(prepared));
  const std::lock_guard lock(functions_mutex_);
  auto& thread = trials_[tenant];
  if (thread == nullptr) thread = std::make_unique<invoker::TaskThread>(invoker::TaskThread::Tasks::large);
  thread->post([this, deployment, ready, answer = std::move(answer), done = std::move(done)]() mutable {
    if (const Status tried = try_out(*ready); !tried) {
      ready.reset();
      clean_up();  // its files
      return refuse(deployment, tried.error(), done);
    }
    answer.messages = ready->messages;
    put(deployment, std::move(*ready), std::move(answer), std::move(done));
  });
}

void Deployments::refuse(const Deployment& deployment, const Error& why, const OnDeployed& done) const {
  say({.level = Remark::Level::warning,
       .text = str("'", deployment.main, "' was not deployed: ", why.message),
       .quiet = true});
  done(why);
}

Status Deployments::try_out(Prepared& prepared) {
  std::vector<bool> fine;
  {
    const std::lock_guard lock(functions_mutex_);
    for (const std::uint64_t key : prepared.keys) fine.push_back(fine_.contains(key));
  }
  if (const Status tried = profiling_.try_out(prepared, fine); !tried) return tried;
  const std::lock_guard lock(functions_mutex_);
  fine_.insert(prepared.keys.begin(), prepared.keys.end());
  return Done{};
}

void Deployments::put(const Deployment& deployment, Prepared prepared, Deployed answer, OnDeployed done) {
  const auto tenant = owner_of(prepared.application.tenant);
  if (!tenant) return done(tenant.error());
  answer.over = never_allowed(prepared.application, tenant->quota);
  if (!answer.over) answer.over = count_functions(prepared.application, tenant->quota);
  if (answer.over) return done(std::move(answer));
  store::DeployedApplication kept{.tenant = prepared.application.tenant,
                                  .name = prepared.application.name,
                                  .deployed_at = data::now(),
                                  .main = deployment.main};
  for (const Deployment::File& file : deployment.files) kept.files.push_back({file.path, file.content});
  auto version = std::make_shared<Result<std::uint32_t>>(Error{});
  auto ready = std::make_shared<Prepared>(std::move(prepared));
  writer_.post(
      [version, kept = std::move(kept)](store::Store& s) -> Status {
        *version = s.put_application(kept);
        if (!*version) return version->error();
        return Done{};
      },
      [this, version, ready, id = tenant->id, answer = std::move(answer),
       done = std::move(done)](const Status& status) mutable {
        if (!status) return done(status.error());
        answer.version = version->value();
        install(std::move(*ready), answer.version, id);
        // After what was posted before: whoever hears of it can call it.
        runner_.post(Barrier{[this, done, answer] {
          options_.changed();
          say({.text = str("application '", answer.application, "' version ", answer.version, " is deployed"),
               .quiet = true});
          done(answer);
        }});
      });
}

void Deployments::remove(const std::string& tenant, const std::string& application, std::function<void(Status)> done) {
  writer_.post([tenant, application](store::Store& s) { return s.remove_application(tenant, application); },
               [this, tenant, application, done = std::move(done)](const Status& status) {
                 if (!status) return done(status);
                 {
                   const std::lock_guard lock(functions_mutex_);
                   functions_.erase({tenant, application});
                 }
                 runner_.post(Removing{tenant, application});
                 runner_.post(Barrier{[this, application, done] {
                   options_.changed();
                   say({.text = str("application '", application, "' is removed"), .quiet = true});
                   done(Done{});
                 }});
               });
}

void Deployments::stop() {
  thread_.stop();  // first: it begins trials
  std::map<std::string, std::unique_ptr<invoker::TaskThread>> trials;
  {
    const std::lock_guard lock(functions_mutex_);
    trials.swap(trials_);
  }
  for (const auto& [tenant, thread] : trials) thread->stop();
}

void Deployments::clean_up() {
  thread_.post([this] { models_.collect(); });
}

}  // namespace sluice::live
