// Reader: looks into the journal and the profiles from any thread, on a connection of its own: it sees what is
// committed, neither waits for the writer nor holds it up. Used by live/ for whoever asks about asynchronous requests.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/function.h"
#include "store/database.h"
#include "store/records.h"

namespace sluice::store {

class Reader {
 public:
  // REQUIRES: a Store has opened the directory.
  [[nodiscard]] static Result<Reader> open(const std::string& directory);

  // As those of Store.
  [[nodiscard]] Result<std::optional<RequestRecord>> find(RequestId id) const;
  [[nodiscard]] Result<std::vector<RequestRecord>> list(const RequestQuery& query) const;
  [[nodiscard]] Result<std::optional<std::string>> inputs_of(RequestId id) const;
  [[nodiscard]] Result<std::optional<std::string>> outputs_of(RequestId id) const;
  [[nodiscard]] Result<std::optional<std::string>> profile(FunctionVersion function) const;

 private:
  struct Shared {
    explicit Shared(Database opened) : database(std::move(opened)) {}
    std::mutex mutex;
    Database database;
  };
  explicit Reader(Database database) : shared_(std::make_unique<Shared>(std::move(database))) {}
  std::unique_ptr<Shared> shared_;
};

}  // namespace sluice::store
