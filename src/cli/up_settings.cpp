#include "cli/up_settings.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/text.h"
#include "cli/server_log.h"
#include "cli/this_machine.h"
#include "cli/worker_path.h"
#include "gateway/address.h"
#include "record/replay.h"
#include "spec/load.h"

namespace sluice::cli {
namespace {

// One line is enough to stop; the command that shows the others is named.
std::string first_error(const spec::Diagnostics& diagnostics, const std::string& file) {
  for (const spec::Diagnostic& diagnostic : diagnostics.sorted()) {
    if (diagnostic.severity != spec::Diagnostic::Severity::error) continue;
    const std::string more =
        diagnostics.errors() > 1 ? str("; all ", diagnostics.errors(), " errors: sluice check ", file) : "";
    return str(to_string(diagnostic), more);
  }
  return str(file, " cannot be read");
}

Result<Bytes> size_of(std::string_view option, const std::string& text) {
  const auto size = parse_bytes(text);
  if (size && size->count() > 0) return *size;
  return Error{ErrorCode::invalid, str(option, " '", text, "' is not a size; write 2GB or 512MiB")};
}

// A check makes no file: it looks at where the file would be.
Status check_log(const UpOptions& options) {
  const ServerLog::Options log{.format = options.log, .level = options.log_level, .file = options.log_file};
  if (const auto level = ServerLog::level_of(log); !level) return level.error();
  if (log.file.empty()) return Done{};
  const std::string folder = std::filesystem::absolute(log.file).parent_path().string();
  if (::access(folder.c_str(), W_OK) == 0) return Done{};
  return Error{ErrorCode::io, str("the log file '", log.file, "' cannot be made: '", folder, "' is not writable")};
}

}  // namespace

Result<invoker::Gpus> gpus_of(const UpOptions& options, const std::string& worker) {
  const bool asked = options.cluster.empty() && options.gpus != "none";
  auto found = asked ? find_gpus(worker) : std::vector<invoker::GpuDevice>();
  if (!found) return found.error();
  return shared_as(options, std::move(*found));
}

Result<std::vector<NodeGroup>> nodes_of(const UpOptions& options, const invoker::Gpus& gpus) {
  if (options.cluster.empty()) return std::vector{this_machine(gpus)};
  const spec::Loaded loaded = spec::load(options.cluster);
  if (!loaded.document) return Error{ErrorCode::invalid, first_error(loaded.diagnostics, options.cluster)};
  if (const auto* cluster = std::get_if<Cluster>(&*loaded.document)) return cluster->nodes;
  return Error{ErrorCode::invalid, str(options.cluster, " is not a cluster: it needs `cluster:`")};
}

Result<Bytes> objects_of(const UpOptions& options) {
  return size_of("--objects", options.objects);
}

Result<Bytes> request_bytes_of(const UpOptions& options) {
  return size_of("--max-request-bytes", options.request_bytes_max);
}

Result<gateway::OpenMetrics> metrics_of(const UpOptions& options) {
  using gateway::OpenMetrics;
  if (options.guard_metrics && options.open_metrics) {
    return Error{ErrorCode::invalid,
                 "--guard-metrics excludes --open-metrics: one closes /metrics, the other opens it"};
  }
  return options.guard_metrics ? OpenMetrics::none : options.open_metrics ? OpenMetrics::all : OpenMetrics::server;
}

Result<std::shared_ptr<gateway::TlsCertificates>> certificates_of(const UpOptions& options, OnRemark remark) {
  if (options.tls_cert.empty() && options.tls_key.empty()) return std::shared_ptr<gateway::TlsCertificates>();
  if (options.tls_cert.empty() || options.tls_key.empty()) {
    return Error{ErrorCode::invalid, "TLS needs both files: --tls-cert FILE and --tls-key FILE"};
  }
  return gateway::TlsCertificates::open({options.tls_cert, options.tls_key}, std::move(remark));
}

Status check_options(const UpOptions& options) {
  if (const auto address = gateway::parse_address(options.listen); !address) return address.error();
  if (const auto objects = objects_of(options); !objects) return objects.error();
  if (const auto bytes = request_bytes_of(options); !bytes) return bytes.error();
  if (const auto metrics = metrics_of(options); !metrics) return metrics.error();
  const auto worker = worker_program();
  if (!worker) return worker.error();
  const auto gpus = gpus_of(options, *worker);
  if (!gpus) return gpus.error();
  if (const auto nodes = nodes_of(options, *gpus); !nodes) return nodes.error();
  if (const auto scheduler = record::make_scheduler({.scheduler = options.scheduler}); !scheduler) {
    return scheduler.error();
  }
  if (!options.admission.empty() && options.scheduler != "sluice") {
    return Error{ErrorCode::invalid,
                 str("--admission ", options.admission, " is of the scheduler `sluice`, and `", options.scheduler,
                     "` was asked for; `admission` promises every request its time, too")};
  }
  if (const auto tls = certificates_of(options, [](const Remark&) {}); !tls) return tls.error();
  return check_log(options);
}

std::string with_place(const UpOptions& options, const std::string& message) {
  for (const auto& [name, place] : options.places) {
    if (message.starts_with(str("--", name, " "))) return str(place, ": ", message.substr(2));
  }
  return message;
}

}  // namespace sluice::cli
