#include "cli/up_arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/up.h"
#include "domain/gpu_mode.h"
#include "spec/settings.h"

namespace sluice::cli {
namespace {

// What is about the file itself, or about one start alone.
constexpr std::array<std::string_view, 3> kNotInFiles = {"help", "config", "check-config"};

struct UpArguments {
  UpOptions options;
  std::string config;
  bool check = false;
};

// A flag's value may be wrong in ways that only CLI11 knows.
void apply(const spec::SettingValue& value, CLI::Option& option, const std::string& file, spec::Diagnostics& out) {
  if (option.get_expected_min() == 0 && !value.on) return;  // as if the flag were not there
  try {
    option.add_result(value.text.empty() ? "true" : value.text);
    option.run_callback();
  } catch (const CLI::ParseError& wrong) {
    const std::string_view said = wrong.what(), name = "--";
    const std::size_t text = said.starts_with(name) ? said.find(": ") : std::string_view::npos;
    out.error(file, value.mark, value.name, std::string(text == std::string_view::npos ? said : said.substr(text + 2)));
  }
}

// What the command line does not say.
spec::Diagnostics read_config(CLI::App& command, UpArguments& arguments) {
  spec::Diagnostics out;
  std::vector<spec::Setting> known;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_single_name();
    if (std::ranges::find(kNotInFiles, name) != kNotInFiles.end()) continue;
    known.push_back({.name = name, .is_switch = option->get_expected_min() == 0});
  }
  for (const spec::SettingValue& value : spec::load_settings(arguments.config, known, out)) {
    CLI::Option& option = *command.get_option(str("--", value.name));
    if (option.count() > 0) continue;  // the command line wins
    apply(value, option, arguments.config, out);
    arguments.options.places[value.name] = str(arguments.config, ":", value.mark.line, ":", value.mark.column);
  }
  return out;
}

int run_up(CLI::App& command, UpArguments& arguments) {
  if (!arguments.config.empty()) {
    const spec::Diagnostics wrong = read_config(command, arguments);
    const auto all = wrong.sorted();
    // One line is enough not to start.
    const std::size_t shown = arguments.check ? all.size() : std::min<std::size_t>(all.size(), 1);
    for (std::size_t i = 0; i < shown; ++i) {
      const std::string more = shown < wrong.errors() ? "; all errors: sluice up --check-config --config FILE" : "";
      std::fprintf(stderr, "%s%s%s\n", arguments.check ? "" : "error: ", to_string(all[i]).c_str(), more.c_str());
    }
    if (wrong.has_errors()) return 1;
  }
  return arguments.check ? check_up(arguments.options) : up_command(arguments.options);
}

void add_serving(CLI::App& command, UpOptions& options) {
  command.add_option("--listen", options.listen, "HOST:PORT, port 0: any (default 127.0.0.1:8000)");
  command.add_option("--data", options.data,
                     "Where applications, requests and logs are kept (default: sluice-data, or $SLUICE_DATA)");
  command.add_option("--cluster", options.cluster, "A document with machines to emulate (default: this machine)");
  command.add_option("--scheduler", options.scheduler, "Its name (default sluice)");
  command
      .add_option("--admission", options.admission,
                  "slo: a request is let in only with a place and a time for every stage, else refused at once")
      ->check(CLI::IsMember({"slo"}));
  command.add_option("--gpus", options.gpus, "auto (default): those of this machine, unless --cluster; or none")
      ->check(CLI::IsMember({"auto", "none"}));
  command
      .add_option(
          "--gpu-mode", options.gpu_mode,
          "How slices share a GPU: green (SMs of their own, default), stream (all SMs), priority (the same, fewer "
          "slices first), none (a process for each function) or mig (default where there are MIG devices)")
      ->check(CLI::IsMember(std::vector<std::string>(kGpuModes.begin(), kGpuModes.end())));
  command.add_option("--gpu-slices", options.gpu_slices, "Of each GPU (default: one for 16 SMs)")
      ->check(CLI::Range(1, 64));
  command.add_flag("--gpu-mps", options.gpu_mps,
                   "Several tenants compute on a GPU at the same time, by NVIDIA's MPS; a fault of one is felt by all");
  command.add_option("--objects", options.objects, "Shared memory for tensors (default 2GB)");
  command.add_option("--max-request-bytes", options.request_bytes_max,
                     "The longest body of a request, also when unpacked (default 256MiB)");
  command.add_option("--threads", options.threads, "Of the gateway (default 1)")->check(CLI::Range(1, 64));
  command.add_flag("--demo", options.demo, "Deploy the vision example and show a call");
  command.add_flag("--durable", options.durable, "Accepted requests survive the loss of power, not only crashes");
  command.add_flag("--triton-errors", options.triton_errors, "503 and Triton's texts instead of 429 and 504");
  command.add_flag("--open-metrics", options.open_metrics, "/metrics shows the series of all tenants without a key");
  command.add_flag("--guard-metrics", options.guard_metrics, "/metrics wants a key where other pages do");
}

void add_operating(CLI::App& command, UpOptions& options) {
  command.add_option("--tls-cert", options.tls_cert,
                     "HTTPS with this certificate (PEM, with those that signed it); read again when it changes");
  command.add_option("--tls-key", options.tls_key, "The key of that certificate (PEM, no password)");
  command.add_option("--log", options.log, "text or json: lines with time and level, on stderr or in --log-file");
  command.add_option("--log-level", options.log_level, "debug, info (default), warning or error");
  command.add_option("--log-file", options.log_file, "The log is appended to this file; SIGHUP opens it again");
  command.add_flag("--json", options.json, "Print one line of JSON when ready");
}

}  // namespace

void add_up(CLI::App& app, int& status) {
  auto arguments = std::make_shared<UpArguments>();
  CLI::App* command = app.add_subcommand("up", "Serve: gateway, scheduler and workers on this machine");
  add_serving(*command, arguments->options);
  add_operating(*command, arguments->options);
  command->add_option("--config", arguments->config,
                      "A YAML file with these options by their names; flags win over it");
  command->add_flag("--check-config", arguments->check, "Only say whether the options can be used");
  command->callback([arguments, command, &status] { status = run_up(*command, *arguments); });
}

}  // namespace sluice::cli
