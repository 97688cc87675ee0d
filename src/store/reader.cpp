#include "store/reader.h"

#include <utility>

#include "store/journal_queries.h"
#include "store/schema.h"

namespace sluice::store {

Result<Reader> Reader::open(const std::string& directory) {
  auto database = Database::open(database_path(directory), Access::read);
  if (!database) return database.error();
  return Reader(std::move(database).value());
}

Result<std::optional<RequestRecord>> Reader::find(RequestId id) const {
  const std::lock_guard lock(shared_->mutex);
  return find_request(shared_->database, id);
}

Result<std::vector<RequestRecord>> Reader::list(const RequestQuery& query) const {
  const std::lock_guard lock(shared_->mutex);
  return list_requests(shared_->database, query);
}

Result<std::optional<std::string>> Reader::inputs_of(RequestId id) const {
  const std::lock_guard lock(shared_->mutex);
  return store::inputs_of(shared_->database, id);
}

Result<std::optional<std::string>> Reader::outputs_of(RequestId id) const {
  const std::lock_guard lock(shared_->mutex);
  return store::outputs_of(shared_->database, id);
}

Result<std::optional<std::string>> Reader::profile(FunctionVersion function) const {
  const std::lock_guard lock(shared_->mutex);
  return profile_of(shared_->database, function);
}

}  // namespace sluice::store
