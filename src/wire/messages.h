// The worker protocol: what the server and a worker tell each other over a socket that keeps messages apart. Tensors
// stay in shared memory; messages say where. Both sides take any bytes for possibly hostile. On the wire: the number of
// the alternative in one byte, then its fields in order (base/archive.h): numbers little-endian as they are, texts and
// lists with their length in eight bytes before them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/archive.h"
#include "base/result.h"
#include "base/time.h"
#include "data/tensor.h"
#include "domain/function.h"

namespace sluice::wire {

inline constexpr std::size_t message_bytes_max = 128u << 10;
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::int32_t kAllRows = -1;

// A tensor in the arena. Stacked: the first dimension is the rows of the batch; else of one row alone.
struct Placed {
  data::TensorInfo info;
  std::int32_t row = kAllRows;
  std::uint64_t offset = 0, size = 0;  // in the arena
  friend bool operator==(const Placed&, const Placed&) = default;
  void visit(auto& archive) { archive(info, row, offset, size); }
};

// A stretch of the arena that a worker may write.
struct Space {
  std::uint64_t offset = 0, size = 0;
  friend bool operator==(const Space&, const Space&) = default;
  void visit(auto& archive) { archive(offset, size); }
};

// To the worker.
struct Load {  // first, with the arena's descriptor
  std::uint32_t version = kVersion;
  std::uint64_t arena_bytes = 0;
  std::string function;
  Body body;
  std::vector<Port> inputs, outputs;  // as declared; empty: not declared
  std::uint32_t threads = 1;
  void visit(auto& archive) { archive(version, arena_bytes, function, body, inputs, outputs, threads); }
};
struct Run {
  std::uint64_t batch = 0;
  std::uint32_t rows = 1;
  std::uint32_t threads = 1;
  Duration emulated;  // how long an emulated function takes
  Time deadline;      // of the oldest
  std::vector<Placed> inputs;
  Space outputs;
  void visit(auto& archive) { archive(batch, rows, threads, emulated, deadline, inputs, outputs); }
};
struct Grant {  // what Wanted asked for, in place of the space before; of size 0: there is none
  std::uint64_t batch = 0;
  Space outputs;
  void visit(auto& archive) { archive(batch, outputs); }
};
struct Stop {
  void visit(auto&) {}
};
using ToWorker = std::variant<Load, Run, Grant, Stop>;

// From the worker.
struct Loaded {
  std::string error;  // empty: ready
  Duration took;
  void visit(auto& archive) { archive(error, took); }
};
struct Ran {
  std::uint64_t batch = 0;
  std::string error;                    // of the whole batch; empty: see row_errors
  std::vector<std::string> row_errors;  // none, or one a row, empty where it succeeded
  std::vector<Placed> outputs;          // inside of the space that was granted
  Duration took;                        // execution alone
  void visit(auto& archive) { archive(batch, error, row_errors, outputs, took); }
};
struct Wanted {  // the outputs do not fit
  std::uint64_t batch = 0;
  std::uint64_t bytes = 0;
  void visit(auto& archive) { archive(batch, bytes); }
};
using FromWorker = std::variant<Loaded, Ran, Wanted>;

// Appends nothing if the message is too large: then it is an error.
[[nodiscard]] Status encode(const ToWorker& message, std::string& out);
[[nodiscard]] Status encode(const FromWorker& message, std::string& out);
// An error unless the bytes are exactly one message.
[[nodiscard]] Result<ToWorker> decode_to_worker(std::string_view bytes);
[[nodiscard]] Result<FromWorker> decode_from_worker(std::string_view bytes);

}  // namespace sluice::wire
