// /metrics: the snapshot as Prometheus text, with histograms of the answers that passed through this server.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>

#include "domain/principal.h"
#include "live/service.h"
#include "live/snapshot.h"

namespace sluice::gateway {

// Counts of values up to each bound, and above the last. Any thread.
template <std::size_t N>
class CountHistogram {
 public:
  void add(std::span<const double, N> bounds, double value) {
    std::size_t bucket = 0;
    while (bucket < N && value > bounds[bucket]) ++bucket;
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    double sum = sum_.load(std::memory_order_relaxed);
    while (!sum_.compare_exchange_weak(sum, sum + value, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] std::uint64_t count(std::size_t bucket) const { return counts_[bucket].load(); }
  [[nodiscard]] double sum() const { return sum_.load(); }

 private:
  std::array<std::atomic<std::uint64_t>, N + 1> counts_{};
  std::atomic<double> sum_ = 0;
};

inline constexpr std::array<double, 16> kLatencyBounds = {0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                          0.1,     0.25,   0.5,   1,      2.5,   5,    10,    30};
inline constexpr std::array<double, 15> kSlackBounds = {-10,   -1,   -0.25, -0.1, -0.05, -0.01, -0.001, 0,
                                                        0.001, 0.01, 0.05,  0.1,  0.25,  1,     10};

// What answers tell that no snapshot keeps. Any thread.
class AnswerMetrics {
 public:
  struct Whose {
    std::string_view tenant, name;  // of an application
  };
  void observe(const Whose& application, const live::Answer& answer);
  // The series of the applications that the principal sees; `server`: also of the machines and the server as a whole.
  [[nodiscard]] std::string page(const live::Snapshot& snapshot, const Principal& principal, bool server) const;

 private:
  struct OfApplication {
    CountHistogram<kLatencyBounds.size()> latency;
    CountHistogram<kSlackBounds.size()> slack;
  };
  struct OfTenant {
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(last_of(RejectReason{})) + 1> rejections{};
    std::map<std::string, std::unique_ptr<OfApplication>, std::less<>> applications;
  };
  using Tenants = std::map<std::string, std::unique_ptr<OfTenant>, std::less<>>;
  [[nodiscard]] OfTenant& of_tenant(std::string_view tenant);
  [[nodiscard]] OfApplication& of(const Whose& application);
  void append_histograms(std::string& out, const live::Snapshot& snapshot, const Principal& principal) const;
  void append_rejections(std::string& out, const Principal& principal) const;

  mutable std::shared_mutex mutex_;
  Tenants tenants_;
};

}  // namespace sluice::gateway
