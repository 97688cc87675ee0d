// Store: what outlives the server, in an SQLite file of the data directory: applications, profiles, keys, small values
// and the journal of asynchronous requests. Blocking, for one thread: live/ opens it at the start and then gives it to
// a Writer (writer.h); other threads look into the journal through a Reader (reader.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/function.h"
#include "store/database.h"
#include "store/directory_lock.h"
#include "store/key.h"
#include "store/records.h"

namespace sluice::store {

// What a commit survives: the end of the process, however it comes, or the loss of power too.
enum class Durability : std::uint8_t { process, power };

// The journal forgets the requests that finished first until both bounds hold; the last one always stays.
struct Options {
  Durability durability = Durability::process;
  std::size_t finished_max = 100'000;
  Bytes outputs_max = Bytes::gb(4);
  Bytes value_max = Bytes::gb(1);  // of one request's inputs, or outputs
};

class Store {
 public:
  // Makes the directory where needed. Fails where another process has it, where it is from a newer version, damaged or
  // not writable.
  [[nodiscard]] static Result<Store> open(const std::string& directory, const Options& options = {});
  Store(Store&&) noexcept = default;
  Store& operator=(Store&&) = delete;
  ~Store() = default;
  [[nodiscard]] const std::string& directory() const { return directory_; }

  // Every change below happens as a whole and is on disk when it returns, unless a batch is open: then all of it is
  // when commit() returns. A failed commit leaves nothing of the batch; so may a failed change (a full disk), which
  // in_batch() tells.
  [[nodiscard]] Status begin_batch();  // REQUIRES: !in_batch()
  [[nodiscard]] Status commit();
  [[nodiscard]] bool in_batch() const { return database_.in_transaction(); }

  // The new version: one more than the tenant's application of that name ever had, also before it was removed. It takes
  // the place of the one that serves, or of the canary; the version in `application` is not looked at. What was
  // replaced is kept, the last limits::versions_kept_max of them.
  [[nodiscard]] Result<std::uint32_t> put_application(const DeployedApplication& application);
  // Those that serve and canaries, by tenant, name and version; files as they were put.
  [[nodiscard]] Result<std::vector<DeployedApplication>> applications();
  // One version, whatever its role. not_found: it is not kept (any more).
  [[nodiscard]] Result<DeployedApplication> application(const std::string& tenant, const std::string& name,
                                                        std::uint32_t version);
  [[nodiscard]] Result<std::vector<std::uint32_t>> versions(const std::string& tenant, const std::string& name);
  // The version that serves, if it has the same document and files; nothing if it differs, or none does.
  [[nodiscard]] Result<std::optional<std::uint32_t>> serving_alike(const DeployedApplication& application);
  // Another version serves, and there is no canary any more. `back`: those that served after it are not gone back to.
  [[nodiscard]] Status serve_version(const std::string& tenant, const std::string& name, std::uint32_t version,
                                     bool back = false);
  // The one that served before the one that serves, and was not gone back from. not_found: none is kept.
  [[nodiscard]] Result<std::uint32_t> version_before(const std::string& tenant, const std::string& name);
  // not_found: there is none.
  [[nodiscard]] Status remove_canary(const std::string& tenant, const std::string& name);
  [[nodiscard]] Status remove_application(const std::string& tenant, const std::string& name);

  // Rows in any form, kept as they are.
  [[nodiscard]] Status put_profile(FunctionVersion function, std::string_view rows);
  [[nodiscard]] Result<std::optional<std::string>> profile(FunctionVersion function);

  // already_exists: the journal has the id. REQUIRES: the id is below 2^63.
  [[nodiscard]] Status put_request(const Request& request, std::string_view inputs);
  // The first answer stays and takes the place of the inputs. already_exists: it is answered already; not_found: the
  // journal does not have it (any more). REQUIRES: answer.state is not running.
  [[nodiscard]] Status finish_request(RequestId id, const Answer& answer, std::string_view outputs);
  [[nodiscard]] Result<std::vector<Request>> unfinished_requests();  // as they came
  [[nodiscard]] Result<std::optional<RequestRecord>> find(RequestId id);
  [[nodiscard]] Result<std::vector<RequestRecord>> list(const RequestQuery& query);  // newest first, by id
  [[nodiscard]] Result<std::optional<std::string>> inputs_of(RequestId id);          // nothing: finished or unknown
  [[nodiscard]] Result<std::optional<std::string>> outputs_of(RequestId id);         // nothing: running or unknown

  // The text of the new key, which is not kept and cannot be shown again.
  [[nodiscard]] Result<std::string> add_key(const std::string& name, const Principal& principal, Time now);
  [[nodiscard]] Status remove_key(const std::string& name);
  [[nodiscard]] Result<std::vector<Key>> keys();  // by name
  // A random text of this store, made when it is asked for first: the salt of the keys is one.
  [[nodiscard]] Result<std::string> secret(std::string_view name);

  [[nodiscard]] Result<Tenant> add_tenant(const std::string& name, const Quota& quota);
  [[nodiscard]] Status set_quota(const std::string& name, const Quota& quota);
  [[nodiscard]] Status remove_tenant(const std::string& name);  // one without keys and applications
  [[nodiscard]] Result<std::vector<Tenant>> tenants();          // by name

  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view name);
  [[nodiscard]] Status set(std::string_view name, std::string_view value);
  [[nodiscard]] Result<std::uint64_t> next_epoch();  // 1, 2, 3, …: a number that no earlier call gave

 private:
  Store(std::string directory, const Options& options, DirectoryLock lock, Database database)
      : directory_(std::move(directory)), options_(options), lock_(std::move(lock)), database_(std::move(database)) {}
  [[nodiscard]] Status forget_beyond_bounds();
  [[nodiscard]] Status check_tenant(std::string_view name);  // there is one

  std::string directory_;
  Options options_;
  DirectoryLock lock_;  // goes last
  Database database_;
};

// What keys and tenants may be called.
[[nodiscard]] bool is_name(std::string_view text);
[[nodiscard]] Error not_a_name(std::string_view what, std::string_view text);

}  // namespace sluice::store
