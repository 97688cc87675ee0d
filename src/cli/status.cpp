// `sluice status` and `sluice nodes`.
#include <fmt/format.h>

#include "cli/json_fields.h"
#include "cli/live_commands.h"
#include "cli/server.h"
#include "cli/terminal.h"
#include "cli/units.h"

namespace sluice::cli {
namespace {

using data::Json;

std::string listening(const Json& status) {
  std::string out;
  for (const Json& address : items_at(status, "listening")) {
    const auto* text = address.as<std::string>();
    if (text != nullptr) out += fmt::format("{}{}", out.empty() ? "" : ", ", *text);
  }
  return out;
}

void print_status(const Json& status) {
  const Json& mailbox = object_at(status, "mailbox");
  const Json& objects = object_at(status, "objects");
  fmt::print("{} sluice {} at {}, up for {}\n", green("ok:"), text_at(status, "version"), listening(status),
             span_text(number_at(status, "uptime_s")));
  fmt::print("  scheduler     {}\n", text_at(status, "scheduler"));
  fmt::print("  data          {}\n", text_at(status, "data"));
  fmt::print("  applications  {}\n", whole_at(status, "applications"));
  fmt::print("  in system     {} requests\n", whole_at(status, "in_system"));
  fmt::print("  mailbox       {} of {} events\n", whole_at(mailbox, "size"), whole_at(mailbox, "max"));
  fmt::print("  objects       {} of {}; {} came in, {} went out\n", size_text(number_at(objects, "used")),
             size_text(number_at(objects, "max")), size_text(number_at(objects, "bytes_in")),
             size_text(number_at(objects, "bytes_out")));
  fmt::print("  batches       {}; inputs of {} were copied together, {}\n", whole_at(objects, "batches"),
             whole_at(objects, "gathers"), size_text(number_at(objects, "bytes_gathered")));
  fmt::print("  workers       {} cold starts, {} crashes, {} retries\n", whole_at(status, "cold_starts"),
             whole_at(status, "worker_crashes"), whole_at(status, "retries"));
}

void print_instances(std::span<const Json> instances) {
  if (instances.empty()) return;
  Table table({"instance", "function", "level", "running", "pid"});
  for (const Json& instance : instances) {
    const std::int64_t pid = whole_at(instance, "pid");
    table.add({fmt::format("{}", whole_at(instance, "id")), text_at(instance, "function"), text_at(instance, "level"),
               fmt::format("{}", whole_at(instance, "running")), pid == 0 ? "–" : fmt::format("{}", pid)});
  }
  fmt::print("{}", table.text("  "));
}

// "; how", where the server says how.
std::string enforced(const Json& node, const char* key) {
  const std::string how = text_at(node, key);
  return how.empty() ? "" : "; " + how;
}

void print_node(const Json& node) {
  fmt::print("{}  {}\n", bold(fmt::format("node {} '{}'", whole_at(node, "id"), text_at(node, "name"))),
             text_at(node, "state"));
  fmt::print("  vCPU      {} of {} free, {} batches running{}\n", whole_at(node, "vcpu_free"), whole_at(node, "vcpu"),
             whole_at(node, "running"), enforced(node, "vcpu_enforced"));
  fmt::print("  memory    {} of {} free{}\n", size_text(number_at(node, "memory_free")),
             size_text(number_at(node, "memory")), enforced(node, "memory_enforced"));
  const auto gpus = items_at(node, "gpus");
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    fmt::print("  GPU {}     {} of {} slices free, {} of {} free{}\n", i, whole_at(gpus[i], "free"),
               whole_at(gpus[i], "slices"), size_text(number_at(gpus[i], "memory_free")),
               size_text(number_at(gpus[i], "memory")), enforced(node, "gpu_enforced"));
  }
  if (gpus.empty()) fmt::print("  GPU       none\n");
  if (const std::string kept = text_at(node, "workers_enforced"); !kept.empty()) fmt::print("  workers   {}\n", kept);
  print_instances(items_at(node, "instances"));
}

int show(const ServerOptions& options, const char* target, void (*print)(const Json&)) {
  const auto server = find_server(options);
  if (!server) return failed(server.error().message);
  const auto answer = ask(**server, {.target = target});
  if (!answer) return failed(answer.error().message);
  if (options.json)
    fmt::print("{}\n", answer->text);
  else
    print(answer->json);
  return 0;
}

}  // namespace

int status_command(const ServerOptions& options) {
  return show(options, "/v1/status", print_status);
}

int nodes_command(const ServerOptions& options) {
  return show(options, "/v1/nodes", [](const Json& json) {
    for (const Json& node : items_at(json, "nodes")) print_node(node);
  });
}

}  // namespace sluice::cli
