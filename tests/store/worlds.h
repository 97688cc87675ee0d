// The small vocabulary of the store's tests: a directory that goes with the test, a store in it, requests and answers.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "store/store.h"

namespace sluice::store {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-store-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline Store opened(const TemporaryDirectory& directory, const Options& options = {}) {
  auto store = Store::open(directory.path(), options);
  return std::move(store).value();
}

inline std::string error_of_opening(const std::string& directory) {
  const auto store = Store::open(directory);
  return store ? "opened" : store.error().message;
}

inline Time at(std::int64_t seconds) {
  return Time::from_ns(seconds * 1'000'000'000);
}

inline Request a_request(std::uint64_t id, std::string application = "photos") {
  return {.id = RequestId(id),
          .application = std::move(application),
          .arrival = at(static_cast<std::int64_t>(id)),
          .objective = Duration::ms(420)};
}

inline Answer met(std::int64_t seconds) {
  return {.state = State::met, .finished = at(seconds), .cost = 0.25};
}

inline std::vector<std::uint64_t> ids(const std::vector<RequestRecord>& records) {
  std::vector<std::uint64_t> out;
  for (const RequestRecord& record : records) out.push_back(record.request.id.value());
  return out;
}
inline std::vector<std::uint64_t> ids(const std::vector<Request>& requests) {
  std::vector<std::uint64_t> out;
  for (const Request& request : requests) out.push_back(request.id.value());
  return out;
}

template <class T>
ErrorCode code_of(const Result<T>& result) {
  return result ? ErrorCode::internal : result.error().code;
}

}  // namespace sluice::store
