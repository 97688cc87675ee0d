// What the options of `sluice up` mean, each read or refused: for the server that starts with them, and for whoever
// only asks whether it could. Nothing here changes anything.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/remark.h"
#include "base/result.h"
#include "cli/up.h"
#include "domain/cluster.h"
#include "gateway/open_metrics.h"
#include "gateway/tls_certificates.h"
#include "invoker/gpus.h"

namespace sluice::cli {

// The GPUs of this machine, which `worker` (the program) finds; none with `--cluster`, whose machines are emulated.
[[nodiscard]] Result<invoker::Gpus> gpus_of(const UpOptions& options, const std::string& worker);
// This machine with these GPUs, or those of `--cluster`.
[[nodiscard]] Result<std::vector<NodeGroup>> nodes_of(const UpOptions& options, const invoker::Gpus& gpus);
[[nodiscard]] Result<Bytes> objects_of(const UpOptions& options);
[[nodiscard]] Result<Bytes> request_bytes_of(const UpOptions& options);
[[nodiscard]] Result<gateway::OpenMetrics> metrics_of(const UpOptions& options);
// Null: no TLS.
[[nodiscard]] Result<std::shared_ptr<gateway::TlsCertificates>> certificates_of(const UpOptions& options,
                                                                                OnRemark remark);
// The first option that a server could not start with.
[[nodiscard]] Status check_options(const UpOptions& options);

// An error about `--NAME`, with where the configuration file has it if it came from there.
[[nodiscard]] std::string with_place(const UpOptions& options, const std::string& message);

}  // namespace sluice::cli
