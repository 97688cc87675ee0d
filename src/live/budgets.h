// Budgets: the requests that every tenant has in the system and their rate, held against its quota when one arrives.
// Any thread. vCPUs and slices are bounded by the scheduler (core/tenant_books.h), shared memory by the arena as well.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/time.h"
#include "domain/quota.h"

namespace sluice::live {

struct OverQuota {
  double needed = 0, available = 0;
  std::string text;  // with both numbers
  std::optional<Duration> retry_after;
};

// Gives back what it stands for when the last copy goes.
using Held = std::shared_ptr<const void>;

class Budgets {
 public:
  // Instead of what was set before; what is in use stays. False: it is the same.
  bool set(const std::string& tenant, const Quota& quota);

  struct Entered {
    Held held;                      // while the request is in the system
    std::optional<OverQuota> over;  // why it is not let in
  };
  // `bytes`: of shared memory that the tenant holds with the inputs of this request. Several at once are one after the
  // other: no quota is passed by two halves. A request of several rows counts as that many requests, and is let in with
  // all of them or not at all.
  [[nodiscard]] Entered enter(const std::string& tenant, Bytes bytes, std::uint32_t rows, Time now);

 private:
  struct Account {
    std::mutex mutex;
    Quota quota;
    std::int64_t requests = 0;
    double tokens = 0;  // requests that may arrive now: at most those of a second
    Time refilled;
  };
  [[nodiscard]] std::shared_ptr<Account> account(const std::string& tenant);
  [[nodiscard]] static std::optional<OverQuota> over(const Account& account, Bytes bytes, std::uint32_t rows);
  [[nodiscard]] static std::optional<OverQuota> take_tokens(Account& account, std::uint32_t rows, Time now);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Account>> accounts_;  // by tenant
};

}  // namespace sluice::live
