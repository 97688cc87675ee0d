#include "cli/data_directory.h"

#include <cstdlib>

namespace sluice::cli {

std::string data_directory(const std::string& given) {
  if (!given.empty()) return given;
  const char* configured = std::getenv("SLUICE_DATA");
  return configured != nullptr && *configured != '\0' ? configured : "sluice-data";
}

}  // namespace sluice::cli
