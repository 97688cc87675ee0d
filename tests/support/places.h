// Where the source tree and the built programs are. Only places.cpp is compiled with these paths, so a second checkout
// finds all other objects of the tests in ccache.
#pragma once
#include <string>
#include <string_view>

namespace sluice::test {

// `path` is relative to the source tree, or to the build folder.
[[nodiscard]] std::string in_source(std::string_view path);
[[nodiscard]] std::string in_build(std::string_view path);

[[nodiscard]] inline std::string worker_program() {
  return in_build("sluice-worker");
}
[[nodiscard]] inline std::string hostile_worker() {
  return in_build("tests/invoker/hostile_worker");
}  // hostile_worker.cpp
[[nodiscard]] inline std::string burn() {
  return in_build("tests/invoker/burn");
}  // burn.cpp

}  // namespace sluice::test
