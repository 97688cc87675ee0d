#include "live/budgets.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace sluice::live {
namespace {

OverQuota more_than(std::int64_t needed, std::int64_t allowed, std::string_view of) {
  return {.needed = static_cast<double>(needed),
          .available = static_cast<double>(allowed),
          .text = str("quota exceeded: ", needed, " ", of, ", allowed are ", allowed),
          .retry_after = std::nullopt};
}

// At least one, so that a rate below one a second lets somebody in.
double burst_of(double rate) {
  return std::max(1.0, rate);
}

}  // namespace

std::shared_ptr<Budgets::Account> Budgets::account(const std::string& tenant) {
  const std::lock_guard lock(mutex_);
  auto& slot = accounts_[tenant];
  if (slot == nullptr) slot = std::make_shared<Account>();
  return slot;
}

bool Budgets::set(const std::string& tenant, const Quota& quota) {
  const auto whose = account(tenant);
  const std::lock_guard lock(whose->mutex);
  if (whose->quota == quota) return false;
  if (whose->quota.requests_per_second != quota.requests_per_second) {
    whose->tokens = burst_of(quota.requests_per_second.value_or(0));
  }
  whose->quota = quota;
  return true;
}

std::optional<OverQuota> Budgets::over(const Account& account, Bytes bytes, std::uint32_t rows) {
  const Quota& quota = account.quota;
  if (quota.requests && account.requests + rows > *quota.requests) {
    return more_than(account.requests + rows, *quota.requests, "requests in the system");
  }
  if (quota.bytes && bytes > *quota.bytes) {
    return more_than(bytes.count(), quota.bytes->count(), "bytes of shared memory");
  }
  return std::nullopt;
}

// A token bucket: it holds the requests of one second.
std::optional<OverQuota> Budgets::take_tokens(Account& account, std::uint32_t rows, Time now) {
  if (!account.quota.requests_per_second) return std::nullopt;
  const double rate = *account.quota.requests_per_second, burst = burst_of(rate);
  const double gained = account.refilled == Time() ? 0 : (now - account.refilled).to_s() * rate;
  account.tokens = std::min(burst, account.tokens + std::max(0.0, gained));
  account.refilled = now;
  if (account.tokens >= rows) {
    account.tokens -= rows;
    return std::nullopt;
  }
  OverQuota out{.needed = burst - account.tokens + rows, .available = rate, .text = {}, .retry_after = std::nullopt};
  out.text = str("quota exceeded: more than ", rate, " requests a second");
  if (rows > burst) out.text += str(": ", rows, " rows never come in at once");
  if (rate > 0 && rows <= burst) out.retry_after = Duration::s((rows - account.tokens) / rate);
  return out;
}

Budgets::Entered Budgets::enter(const std::string& tenant, Bytes bytes, std::uint32_t rows, Time now) {
  auto whose = account(tenant);
  const std::lock_guard lock(whose->mutex);
  if (auto refused = over(*whose, bytes, rows)) return {.held = nullptr, .over = std::move(refused)};
  if (auto refused = take_tokens(*whose, rows, now)) return {.held = nullptr, .over = std::move(refused)};
  whose->requests += rows;
  Account* raw = whose.get();
  return {.held = Held(raw,
                       [whose = std::move(whose), rows](const void*) {
                         const std::lock_guard back(whose->mutex);
                         whose->requests -= rows;
                       }),
          .over = std::nullopt};
}

}  // namespace sluice::live
