// How long a batch waits for its inputs to arrive where it runs.
#pragma once
#include <algorithm>
#include <optional>

#include "base/check.h"
#include "domain/experiment.h"
#include "domain/limits.h"

namespace sluice::profile {

// What a whole batch reads from its predecessors, by where it lies; absent: no input lies there.
struct BatchInputs {
  std::optional<Bytes> local, remote;
  void add(bool is_local, Bytes bytes) {
    std::optional<Bytes>& sum = is_local ? local : remote;
    sum = sum.value_or(Bytes()) + bytes;
  }
};

// The local delay and time for the local bytes, and once more for remote ones if any input is remote. Nothing if there
// is no input from a predecessor: the first stage is free. REQUIRES: both rates of `transfer` are above 0.
[[nodiscard]] inline Duration transfer_time(const Transfer& transfer, const BatchInputs& inputs) {
  CHECK(transfer.local_bytes_per_s > 0 && transfer.remote_bytes_per_s > 0);
  const auto copy = [](std::optional<Bytes> bytes, double bytes_per_s) {
    const double seconds = static_cast<double>(bytes.value_or(Bytes()).count()) / bytes_per_s;
    return Duration::s(std::min(seconds, limits::duration_max.to_s()));
  };
  if (!inputs.local && !inputs.remote) return {};
  const Duration local = transfer.local_delay + copy(inputs.local, transfer.local_bytes_per_s);
  if (!inputs.remote) return local;
  return local + transfer.remote_delay + copy(inputs.remote, transfer.remote_bytes_per_s);
}

}  // namespace sluice::profile
