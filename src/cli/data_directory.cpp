#include "cli/data_directory.h"

#include <sys/un.h>

#include <cstdlib>

namespace sluice::cli {

std::string data_directory(const std::string& given) {
  if (!given.empty()) return given;
  const char* configured = std::getenv("SLUICE_DATA");
  return configured != nullptr && *configured != '\0' ? configured : "sluice-data";
}

std::string socket_in(const std::string& directory) {
  std::string path = directory + "/socket";
  return path.size() < sizeof(sockaddr_un::sun_path) ? path : "";
}

}  // namespace sluice::cli
