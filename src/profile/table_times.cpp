#include "profile/table_times.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "base/check.h"

namespace sluice::profile {
namespace {

// Comparing two integers beats comparing eight characters; the order of the keys means nothing outside this file.
std::uint64_t key_of(DeviceKind device) {
  return std::bit_cast<std::uint64_t>(device);
}
std::uint32_t share_of(const Configuration& c) {
  return std::uint32_t{c.slices} << 16 | c.vcpu;
}

Latency scaled(Latency latency, double factor) {
  return {latency.mean_ms * factor, latency.sd_ms * factor, latency.extrapolated};
}

Latency extrapolated(Latency latency) {
  return {latency.mean_ms, latency.sd_ms, true};
}

// The first element whose key is not below `x`. Without branches on the data: what is asked for is hard to predict, and
// a mispredicted step costs more than the whole search.
template <class T, class Key, class KeyOf>
const T* first_not_below(std::span<const T> sorted, Key x, KeyOf key) {
  const T* first = sorted.data();
  for (std::size_t length = sorted.size(); length > 0;) {
    const std::size_t half = (length + 1) / 2;
    first += key(first[half - 1]) < x ? half : 0;
    length -= half;
  }
  return first;
}

// The answer at `x` from the answers at the ends of a sorted range of knots. Between two knots: on their line. Below
// the first: the first, since less work takes no longer. Above the last: the line of the last two, never falling; with
// a single knot in proportion to x, since twice the work takes at most twice as long.
template <class Knot, class KeyOf, class AnswerAt>
Latency along(std::span<const Knot> knots, double x, KeyOf key, AnswerAt answer) {
  const Knot* const begin = knots.data();
  const Knot* const end = begin + knots.size();
  const Knot* const upper = first_not_below(knots, x, key);
  if (upper != end && key(*upper) == x) return answer(*upper);
  if (upper == begin) return extrapolated(answer(*begin));
  if (upper == end && knots.size() == 1) return extrapolated(scaled(answer(*begin), x / key(*begin)));
  const Knot& right = upper == end ? *(end - 1) : *upper;
  const Knot& left = *(&right - 1);
  const Latency a = answer(left), b = answer(right);
  const double weight = (x - key(left)) / (key(right) - key(left));
  const Latency between{a.mean_ms + weight * (b.mean_ms - a.mean_ms), a.sd_ms + weight * (b.sd_ms - a.sd_ms),
                        a.extrapolated || b.extrapolated};
  if (upper != end) return between;
  return {std::max(between.mean_ms, b.mean_ms), std::max(between.sd_ms, b.sd_ms), true};
}

}  // namespace

TableTimes::TableTimes(const ProfileTable& table) {
  std::vector<const ProfileRow*> rows;
  rows.reserve(table.rows.size());
  for (const ProfileRow& row : table.rows) rows.push_back(&row);
  const auto order = [](const ProfileRow* row) {
    const Configuration& c = row->configuration;
    return std::tuple{key_of(c.device), share_of(c), c.batch};
  };
  std::sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) { return order(a) < order(b); });
  for (const ProfileRow* row : rows) add(*row);
}

// Rows come sorted by device, share and batch.
void TableTimes::add(const ProfileRow& row) {
  const std::uint64_t device = key_of(row.configuration.device);
  const std::uint32_t share = share_of(row.configuration);
  const auto end_of = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  const bool new_device = devices_.empty() || devices_.back().key != device;
  const bool new_column = new_device || columns_.back().share != share;
  if (new_device) devices_.push_back({device, end_of(columns_), end_of(columns_)});
  if (new_column) columns_.push_back({share, end_of(points_), end_of(points_)});
  points_.push_back(
      {static_cast<double>(row.configuration.batch), row.mean_ms, row.sd_ms, row.busy_mean_ms.value_or(row.mean_ms)});
  devices_.back().last = end_of(columns_);
  columns_.back().last = end_of(points_);
}

Latency TableTimes::latency(const Configuration& configuration, bool busy) const {
  const std::span<const Column> columns = columns_of(configuration.device);
  CHECK_MSG(!columns.empty(), configuration.device.name());
  const std::uint32_t share = share_of(configuration);
  const Column* const column = first_not_below(columns, share, [](const Column& c) { return c.share; });
  const bool measured = column != columns.data() + columns.size() && column->share == share;
  return measured ? in_column(*column, configuration.batch, busy) : nearest(columns, configuration, busy);
}

std::span<const TableTimes::Column> TableTimes::columns_of(DeviceKind device) const {
  const auto of = [this](std::uint64_t key) -> std::span<const Column> {
    for (const Device& found : devices_) {  // rarely more than two
      if (found.key == key) return {columns_.data() + found.first, found.last - found.first};
    }
    return {};
  };
  const std::span<const Column> exact = of(key_of(device));
  return exact.empty() && !device.is_cpu() ? of(key_of(DeviceKind::gpu())) : exact;
}

Latency TableTimes::in_column(const Column& column, double batch, bool busy) const {
  const std::span<const Point> points(points_.data() + column.first, column.last - column.first);
  return along(
      points, batch, [](const Point& point) { return point.batch; },
      [busy](const Point& point) {
        const Latency alone{point.mean_ms, point.sd_ms, false};
        return busy ? scaled(alone, point.busy_mean_ms / point.mean_ms) : alone;
      });
}

// Every column bounds the answer from above: with no more than asked it is at least as slow, with n times what is asked
// it is at most n times as fast. The least bound is taken; it cannot grow when vCPUs or slices are added.
Latency TableTimes::nearest(std::span<const Column> columns, const Configuration& c, bool busy) const {
  const auto missing = [](std::uint32_t measured, std::uint32_t asked) {
    return std::max(1.0, static_cast<double>(measured) / std::max(asked, 1u));
  };
  Latency best{.mean_ms = std::numeric_limits<double>::infinity()};
  for (const Column& column : columns) {
    const double stretch = missing(column.share >> 16, c.slices) * missing(column.share & 0xFFFF, c.vcpu);
    const Latency bound = scaled(in_column(column, c.batch, busy), stretch);
    if (bound.mean_ms < best.mean_ms) best = bound;
  }
  best.extrapolated = true;
  return best;
}

}  // namespace sluice::profile
