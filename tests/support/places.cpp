#include "support/places.h"

namespace sluice::test {

std::string in_source(std::string_view path) {
  return std::string(SLUICE_SOURCE_DIR "/").append(path);
}
std::string in_build(std::string_view path) {
  return std::string(SLUICE_BUILD_DIR "/").append(path);
}

}  // namespace sluice::test
