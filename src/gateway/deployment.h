// The body of POST /v1/applications: a document and the files it names.
#pragma once
#include <string_view>

#include "base/result.h"
#include "live/service.h"

namespace sluice::gateway {

// kBodyPadding bytes after `body` may be read. Paths that leave the deployment's folder are refused here, before
// anything is written.
[[nodiscard]] Result<live::Deployment> read_deployment(std::string_view body);

}  // namespace sluice::gateway
