// Fuzz target: any text as a document of our YAML, and whatever is accepted must survive a round trip.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "domain/limits.h"
#include "spec/load.h"
#include "spec/yaml/write_yaml.h"

using namespace sluice;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 16) return 0;
  std::string text(reinterpret_cast<const char*>(data), size);
  const spec::ReadFile read = [&](const std::string& path) -> Result<std::string> {
    if (path == "d.yaml" || path == "f.csv") return text;
    return Error{ErrorCode::not_found, "there is no file " + path};
  };
  const spec::Loaded loaded = spec::load("d.yaml", read);
  if (!loaded.document || !std::holds_alternative<Application>(*loaded.document)) return 0;
  const Application& application = std::get<Application>(*loaded.document);
  const std::string written = spec::write_yaml(application);
  const spec::Loaded again = spec::load("w.yaml", [&](const std::string&) -> Result<std::string> { return written; });
  CHECK_MSG(again.document.has_value(), written);
  CHECK_MSG(std::get<Application>(*again.document) == application, written);
  return 0;
}
