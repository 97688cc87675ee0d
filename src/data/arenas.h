// Arenas: an arena for every tenant, made when it is first asked for, so that a worker, which gets its tenant's only,
// can neither read nor write what belongs to another. Also the server's own, which no worker ever gets. Any thread.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "data/arena.h"

namespace sluice::data {

class Arenas {
 public:
  struct Options {
    Bytes all;         // that all tenants together may hold
    Bytes per_tenant;  // that one may hold; none: all
    std::size_t tenants_max = 1'000;
  };
  static constexpr std::string_view kServer{};  // a tenant without a name: what no worker gets

  explicit Arenas(Options options);
  ~Arenas();
  Arenas(const Arenas&) = delete;
  Arenas& operator=(const Arenas&) = delete;

  // An error if the system gives no more memory, or there are too many tenants.
  [[nodiscard]] Result<std::shared_ptr<Arena>> of(std::string_view tenant);
  // What the tenant may use of its arena; nothing: all of it.
  void limit(const std::string& tenant, std::optional<Bytes> most);
  [[nodiscard]] std::size_t used() const { return allowance_->used.load(); }
  [[nodiscard]] std::size_t max() const { return allowance_->max; }

 private:
  struct Tending;  // arenas that want it; outlives this one with the blocks that others hold

  Options options_;
  std::shared_ptr<Allowance> allowance_ = std::make_shared<Allowance>();
  std::shared_ptr<Tending> tending_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Arena>, std::less<>> arenas_;  // guarded by mutex_
  std::map<std::string, std::size_t, std::less<>> limits_;             // by tenant; guarded by mutex_
  std::thread thread_;                                                 // tends them
};

}  // namespace sluice::data
