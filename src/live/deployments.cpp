#include "live/deployments.h"

#include "base/text.h"
#include "data/clock.h"

namespace sluice::live {
namespace {

Deployment deployment_of(const store::DeployedApplication& kept) {
  Deployment out{.principal = {.tenant = kept.tenant, .role = Role::admin}, .main = kept.main, .canary = kept.share};
  for (const store::File& file : kept.files) out.files.push_back({file.path, file.content});
  return out;
}

// A version on its way into the store, and what became of it there.
struct Putting {
  store::DeployedApplication application;
  std::optional<std::uint32_t> kept;  // it is there already, and serves from now on
  bool back = false;                  // again
  bool unchanged = false;             // it serves already
  std::uint32_t number = 0;
  std::optional<double> share;
  std::vector<std::uint32_t> versions;
};

// May be asked twice, if what was asked with it could not be written. A canary of nothing serves. What serves already
// is no new version: the one to go back to is the last that was different.
Status put_version(store::Store& store, Putting& put) {
  const auto& [tenant, name] = std::tie(put.application.tenant, put.application.name);
  if (!put.kept) {
    const auto alike = store.serving_alike(put.application);
    if (!alike) return alike.error();
    put.kept = *alike;
    put.unchanged = alike->has_value();
  }
  if (put.kept) {
    put.number = *put.kept;
    if (const Status served = store.serve_version(tenant, name, put.number, put.back); !served) return served;
  } else {
    const auto before = store.versions(tenant, name);
    if (!before) return before.error();
    store::DeployedApplication one = put.application;
    if (before->empty()) one.share.reset();
    one.role = one.share ? store::VersionRole::canary : store::VersionRole::serving;
    const auto version = store.put_application(one);
    if (!version) return version.error();
    put.number = *version;
    put.share = one.share;
  }
  auto all = store.versions(tenant, name);
  if (!all) return all.error();
  put.versions = std::move(*all);
  return Done{};
}

}  // namespace

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
    const Deployment deployment = deployment_of(application);
    auto ready = prepared(deployment);
    if (ready) ready->application.tenant = application.tenant;  // whatever the document says
    if (const auto arena = arenas_.of(application.tenant); ready && !arena) ready = arena.error();
    const auto tenant = owner_of(application.tenant);
    if (ready && !tenant) ready = tenant.error();
    if (ready) {
      // What was deployed stays, whatever the quota is now.
      (void)count_functions(ready->application, application.share.has_value(), {});
      fine_.insert(ready->keys.begin(), ready->keys.end());
      install(std::move(*ready), {.number = application.version,
                                  .tenant = tenant->id,
                                  .share = application.share,
                                  .versions = std::move(application.versions),
                                  .entered = {}});
      continue;
    }
    // What serves beside a canary is there all the same.
    if (!application.share)
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

std::optional<OverQuota> Deployments::count_functions(const Application& application, bool canary, const Quota& quota) {
  const std::lock_guard lock(functions_mutex_);
  const std::tuple whose(application.tenant, application.name, canary);
  std::size_t all = application.functions.size();
  for (const auto& [name, count] : functions_) {
    if (std::get<0>(name) == application.tenant && name != whose) all += count;
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

bool Deployments::serves(const Application& application) {
  const std::lock_guard lock(functions_mutex_);
  return functions_.contains({application.tenant, application.name, false});
}

void Deployments::forget_functions(const std::string& tenant, const std::string& application, bool canary_only) {
  const std::lock_guard lock(functions_mutex_);
  functions_.erase({tenant, application, true});
  if (!canary_only) functions_.erase({tenant, application, false});
}

Result<store::Tenant> Deployments::owner_of(const std::string& tenant) const {
  auto known = options_.tenant(tenant);
  if (known) return *std::move(known);
  return Error{ErrorCode::not_found, str("there is no tenant '", tenant, "': make it with `sluice tenants add NAME`")};
}

// The application itself and each of its functions alone, which are those of the version that serves.
void Deployments::install(Prepared prepared, Version version) {
  auto application = std::make_shared<const Application>(std::move(prepared.application));
  Deploying letter{.application = application,
                   .functions = {},
                   .version = version.number,
                   .tenant = version.tenant,
                   .keys = prepared.keys,
                   .profiled = std::move(prepared.profiled),
                   .files = prepared.files,
                   .plans = std::move(prepared.plans),
                   .share = version.share,
                   .versions = std::move(version.versions),
                   .warm = version.entered != nullptr,
                   .entered = std::move(version.entered)};
  for (Application& alone : functions_alone(*application)) {
    if (!version.share) letter.functions.push_back(std::make_shared<const Application>(std::move(alone)));
  }
  runner_.post(std::move(letter));
  profiling_.watch(*application, version.number, prepared.keys);
  if (prepared.unprofiled.empty()) return;
  // Its files stay until it is measured, also if it is removed meanwhile.
  std::shared_ptr<const Application> leased(application.get(),
                                            [application, files = std::move(prepared.files)](const Application*) {});
  profiling_.measure(std::move(leased), std::move(prepared.unprofiled));
}

void Deployments::deploy(Deployment deployment, OnDeployed done) {
  follow({.deployment = std::move(deployment), .kept = {}, .back = false, .done = std::move(done)});
}

void Deployments::serve(const std::string& tenant, const std::string& application, std::optional<std::uint32_t> version,
                        bool back, OnDeployed done) {
  auto kept = std::make_shared<Result<store::DeployedApplication>>(Error{});
  writer_.post(
      [kept, tenant, application, version](store::Store& s) -> Status {
        const auto which = version ? Result<std::uint32_t>(*version) : s.version_before(tenant, application);
        if (!which) return which.error();
        *kept = s.application(tenant, application, *which);
        if (!*kept) return kept->error();
        return Done{};
      },
      [this, kept, back, done = std::move(done)](const Status& status) {
        if (!status) return done(status.error());
        Order order{.deployment = deployment_of(**kept), .kept = (*kept)->version, .back = back, .done = done};
        order.deployment.canary.reset();  // it gets all calls from now on
        follow(std::move(order));
      });
}

void Deployments::withdraw(const std::string& tenant, const std::string& application, std::uint32_t serving,
                           OnDeployed done) {
  auto versions = std::make_shared<std::vector<std::uint32_t>>();
  writer_.post(
      [tenant, application, versions](store::Store& s) -> Status {
        if (const Status removed = s.remove_canary(tenant, application); !removed) return removed;
        auto kept = s.versions(tenant, application);
        if (!kept) return kept.error();
        *versions = std::move(*kept);
        return Done{};
      },
      [this, tenant, application, serving, versions, done = std::move(done)](const Status& status) {
        if (!status) return done(status.error());
        forget_functions(tenant, application, true);
        runner_.post(Removing{tenant, application, true, *versions});
        runner_.post(Barrier{[this, application, serving, done] {
          say({.text = str("the canary of application '", application, "' is gone"), .quiet = true});
          done(Deployed{.application = application, .version = serving});
        }});
      });
}

void Deployments::follow(Order order) {
  thread_.post([this, order = std::move(order)]() mutable {
    const Deployment& deployment = order.deployment;
    auto ready = prepared(deployment);
    if (!ready || deployment.dry_run) models_.collect();  // what it would have needed
    if (!ready) return refuse(order, ready.error());
    Deployed answer{.application = ready->application.name, .messages = ready->messages, .fits = ready->fits};
    if (deployment.dry_run) return order.done(std::move(answer));
    try_and_put(std::move(order), std::move(*ready), std::move(answer));
  });
}

// By tenant: whoever deploys functions that hang waits for them alone.
void Deployments::try_and_put(Order order, Prepared prepared, Deployed answer) {
  const std::string tenant = prepared.application.tenant;
  auto ready = std::make_shared<Prepared>(std::move(prepared));
  const std::lock_guard lock(functions_mutex_);
  auto& thread = trials_[tenant];
  if (thread == nullptr) thread = std::make_unique<invoker::TaskThread>(invoker::TaskThread::Tasks::large);
  thread->post([this, order = std::move(order), ready, answer = std::move(answer)]() mutable {
    if (const Status tried = try_out(*ready); !tried) {
      Error why = tried.error();
      if (serves(ready->application)) why.message += "; the version before goes on serving";
      ready.reset();
      clean_up();  // its files
      return refuse(order, why);
    }
    answer.messages = ready->messages;
    put(order, std::move(*ready), std::move(answer));
  });
}

void Deployments::refuse(const Order& order, const Error& why) const {
  say({.level = Remark::Level::warning,
       .text = str("'", order.deployment.main, "' was not deployed: ", why.message),
       .quiet = true});
  order.done(why);
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

void Deployments::put(const Order& order, Prepared prepared, Deployed answer) {
  const Deployment& deployment = order.deployment;
  const auto tenant = owner_of(prepared.application.tenant);
  if (!tenant) return order.done(tenant.error());
  answer.over = never_allowed(prepared.application, tenant->quota);
  if (!answer.over) answer.over = count_functions(prepared.application, deployment.canary.has_value(), tenant->quota);
  if (answer.over) return order.done(std::move(answer));
  auto put = std::make_shared<Putting>();
  put->kept = order.kept;
  put->back = order.back;
  put->application = {.tenant = prepared.application.tenant,
                      .name = prepared.application.name,
                      .share = deployment.canary,
                      .deployed_at = data::now(),
                      .main = deployment.main};
  for (const Deployment::File& file : deployment.files) put->application.files.push_back({file.path, file.content});
  auto ready = std::make_shared<Prepared>(std::move(prepared));
  writer_.post(
      [put](store::Store& s) { return put_version(s, *put); },
      [this, put, ready, id = tenant->id, answer = std::move(answer), done = order.done](const Status& status) mutable {
        if (!status) return done(status.error());
        if (!put->share) forget_functions(put->application.tenant, put->application.name, true);
        answer.version = put->number;
        if (put->unchanged) answer.messages.insert(answer.messages.begin(), "unchanged: this version serves already");
        answer.canary = put->share;
        // Whoever hears of it can call it.
        const auto entered = [this, done, answer] {
          options_.changed();
          say({.text = str("application '", answer.application, "' version ", answer.version, " is deployed"),
               .quiet = true});
          done(answer);
        };
        install(std::move(*ready), {.number = put->number,
                                    .tenant = id,
                                    .share = put->share,
                                    .versions = std::move(put->versions),
                                    .entered = entered});
      });
}

void Deployments::remove(const std::string& tenant, const std::string& application, std::function<void(Status)> done) {
  writer_.post([tenant, application](store::Store& s) { return s.remove_application(tenant, application); },
               [this, tenant, application, done = std::move(done)](const Status& status) {
                 if (!status) return done(status);
                 forget_functions(tenant, application, false);
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
