#include "live/deployments.h"

#include <malloc.h>

#include "base/text.h"
#include "data/clock.h"

namespace sluice::live {

Result<Prepared> Deployments::prepared(const Deployment& deployment) const {
  auto out =
      prepare(deployment, options_.models, options_.nodes, [this](std::uint64_t key) { return profiling_.find(key); });
  if (!out || deployment.dry_run) return out;
  if (const auto arena = arenas_.of(out->application.tenant); !arena) return arena.error();
  return out;
}

void Deployments::restore(std::vector<store::DeployedApplication> applications) {
  for (store::DeployedApplication& application : applications) {
    Deployment deployment{.main = application.main};
    for (store::File& file : application.files) deployment.files.push_back({file.path, std::move(file.content)});
    auto ready = prepared(deployment);
    if (ready) {
      install(std::move(*ready), application.version);
      continue;
    }
    runner_.post(Missing{application.name, application.version, ready.error().message});
    if (options_.say) options_.say(str("application '", application.name, "' is UNAVAILABLE: ", ready.error().message));
  }
  runner_.post(Barrier{options_.changed});
}

// The application itself and each of its functions alone.
void Deployments::install(Prepared prepared, std::uint32_t version) {
  const std::string reason = prepared.unprofiled.empty() ? "" : "being profiled; runs one at a time meanwhile";
  auto application = std::make_shared<const Application>(std::move(prepared.application));
  for (Application& alone : functions_alone(*application)) {
    runner_.post(Deploying{.application = std::make_shared<const Application>(std::move(alone)),
                           .version = version,
                           .is_function = true,
                           .reason = reason});
  }
  runner_.post(Deploying{.application = application, .version = version, .reason = reason});
  if (!prepared.unprofiled.empty()) profiling_.measure(std::move(application), std::move(prepared.unprofiled));
}

void Deployments::deploy(Deployment deployment, OnDeployed done) {
  thread_.post([this, deployment = std::move(deployment), done = std::move(done)] {
    auto ready = prepared(deployment);
    if (!ready) return done(ready.error());
    Deployed answer{.application = ready->application.name, .messages = ready->messages, .fits = ready->fits};
    if (deployment.dry_run) return done(std::move(answer));
    put(deployment, std::move(*ready), std::move(answer), done);
  });
}

void Deployments::put(const Deployment& deployment, Prepared prepared, Deployed answer, OnDeployed done) {
  std::vector<store::File> files;
  for (const Deployment::File& file : deployment.files) files.push_back({file.path, file.content});
  const std::string name = answer.application;
  auto version = std::make_shared<Result<std::uint32_t>>(Error{});
  auto ready = std::make_shared<Prepared>(std::move(prepared));
  writer_.post(
      [version, name, main = deployment.main, files = std::move(files)](store::Store& s) -> Status {
        *version = s.put_application(name, main, files, data::now());
        if (!*version) return version->error();
        return Done{};
      },
      [this, version, ready, answer = std::move(answer), done = std::move(done)](const Status& status) mutable {
        if (!status) return done(status.error());
        answer.version = version->value();
        install(std::move(*ready), answer.version);
        // After what was posted before: whoever hears of it can call it.
        runner_.post(Barrier{[this, done, answer] {
          options_.changed();
          done(answer);
        }});
      });
}

void Deployments::remove(std::vector<std::string> names, std::function<void(Status)> done) {
  const std::string application = names.front();
  writer_.post([application](store::Store& s) { return s.remove_application(application); },
               [this, names = std::move(names), done = std::move(done)](const Status& status) {
                 if (!status) return done(status);
                 for (const std::string& name : names) runner_.post(Removing{name});
                 runner_.post(Barrier{[this, done] {
                   options_.changed();
                   done(Done{});
                 }});
               });
}

void Deployments::trim_memory() {
  thread_.post([] { ::malloc_trim(0); });
}

}  // namespace sluice::live
