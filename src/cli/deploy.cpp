// `sluice deploy`: a document and the files it names go to a server.
#include <fmt/format.h>

#include "cli/deployment_files.h"
#include "cli/json_fields.h"
#include "cli/live_commands.h"
#include "cli/problems.h"
#include "cli/server.h"
#include "cli/terminal.h"
#include "gateway/base64.h"

namespace sluice::cli {
namespace {

std::string body_of(const DeploymentFiles& deployment) {
  std::string out = R"({"main":)";
  data::append_quoted(out, deployment.main);
  out += R"(,"files":[)";
  for (const auto& [path, content] : deployment.files) {
    out += out.back() == '[' ? R"({"path":)" : R"(,{"path":)";
    data::append_quoted(out, path);
    out += R"(,"base64":")" + gateway::to_base64(content) + "\"}";
  }
  return out + "]}";
}

bool is_unchanged(const data::Json& answer) {
  const auto messages = items_at(answer, "messages");
  const auto* first = messages.empty() ? nullptr : messages.front().as<std::string>();
  return first != nullptr && first->starts_with("unchanged: ");
}

int print(const data::Json& answer, bool dry_run) {
  const std::string name = text_at(answer, "application");
  const bool fits = flag_at(answer, "fits");
  const auto canary = maybe_number_at(answer, "canary_percent");
  if (!dry_run)
    fmt::print("{} {}{} version {}{}\n", fits ? green("ok:") : red("warning:"), is_unchanged(answer) ? "" : "deployed ",
               name, whole_at(answer, "version"), canary ? fmt::format(" as a canary of {:g} %", *canary) : "");
  else if (fits)
    fmt::print("{} {} fits; nothing was deployed, and its functions were not tried\n", green("ok:"), name);
  else
    fmt::print("{} {} does not fit; nothing was deployed\n", red("error:"), name);
  for (const data::Json& message : items_at(answer, "messages")) {
    if (const auto* text = message.as<std::string>()) fmt::print("  {}\n", *text);
  }
  return dry_run && !fits ? 1 : 0;
}

}  // namespace

int deploy_command(const DeployOptions& options) {
  RecordingReader read;
  const spec::Loaded loaded = spec::load(options.file, read.reader());
  if (!loaded.document) {
    fmt::print("{}", problems(loaded));
    return 1;
  }
  const auto* application = std::get_if<Application>(&*loaded.document);
  if (application == nullptr) return failed(fmt::format("{} is no application", options.file));
  const auto deployment = collect(loaded, *application, read);
  if (!deployment) return failed(deployment.error().message);
  const auto server = find_server(options.server);
  if (!server) return failed(server.error().message);
  std::string target = "/v1/applications";
  if (options.dry_run) target += "?dry_run=true";
  if (options.canary) target += fmt::format("{}canary={}", options.dry_run ? "&" : "?", *options.canary);
  const auto answer = ask(**server, {.method = "POST",
                                     .target = std::move(target),
                                     .headers = {{"Content-Type", "application/json"}},
                                     .body = body_of(*deployment),
                                     .timeout = Duration::s(600)});
  if (!answer) return failed(answer.error().message);
  if (!options.server.json) return print(answer->json, options.dry_run);
  fmt::print("{}\n", answer->text);
  return options.dry_run && !flag_at(answer->json, "fits") ? 1 : 0;
}

}  // namespace sluice::cli
