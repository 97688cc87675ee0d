// `sluice up --demo`: deploys the vision example, makes one call with a picture in and out, and prints the lines to
// try.
#pragma once
#include <functional>
#include <string>

#include "base/result.h"
#include "live/platform.h"

namespace sluice::cli {

// An error if the example is not there or does not deploy.
[[nodiscard]] Status show_demo(live::Platform& platform, const std::string& url, const std::string& directory,
                               const std::function<void(const std::string&)>& say);

}  // namespace sluice::cli
