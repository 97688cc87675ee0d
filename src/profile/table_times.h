// TableTimes: measured rows arranged for lookup, with answers between and beyond them. Part of FunctionProfile, which
// states the rules; nobody else uses it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "domain/profile.h"
#include "profile/latency.h"

namespace sluice::profile {

class TableTimes {
 public:
  // REQUIRES: problems_of(table) is empty (domain/profile_rules.h).
  explicit TableTimes(const ProfileTable& table);

  [[nodiscard]] bool knows(DeviceKind device) const { return !columns_of(device).empty(); }
  // REQUIRES: knows(configuration.device). Two binary searches where the row exists; allocates nothing.
  [[nodiscard]] Latency latency(const Configuration& configuration, bool busy) const;

 private:
  struct Point {
    double batch, mean_ms, sd_ms, busy_mean_ms;
  };
  struct Column {  // points of one share, by batch
    std::uint32_t share;
    std::uint32_t first, last;
  };
  struct Device {  // columns of one kind of device, by share
    std::uint64_t key;
    std::uint32_t first, last;
  };

  void add(const ProfileRow& row);
  [[nodiscard]] std::span<const Column> columns_of(DeviceKind device) const;
  [[nodiscard]] Latency in_column(const Column& column, double batch, bool busy) const;
  [[nodiscard]] Latency nearest(std::span<const Column> columns, const Configuration& c, bool busy) const;

  std::vector<Device> devices_;
  std::vector<Column> columns_;
  std::vector<Point> points_;
};

}  // namespace sluice::profile
