// An application as a document of our YAML; reading it back gives an equal application.
#pragma once
#include <string>

#include "domain/application.h"

namespace sluice::spec {

[[nodiscard]] std::string write_yaml(const Application& application);

}  // namespace sluice::spec
