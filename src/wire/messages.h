// The worker protocol: what the server and a worker process tell each other over a socket that keeps messages apart. A
// process holds several functions and may run several batches at once. Tensors stay where they are; messages say where.
// Both sides take any bytes for possibly hostile. On the wire: the number of the alternative in one byte, then its
// fields in order (base/archive.h): numbers little-endian as they are, texts and lists with their length in eight bytes
// before them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/archive.h"
#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "data/tensor.h"
#include "domain/event_parts.h"
#include "domain/function.h"
#include "domain/gpu_form.h"
#include "domain/gpu_mode.h"
#include "domain/graph_use.h"

namespace sluice::wire {

inline constexpr std::size_t message_bytes_max = 128u << 10;
inline constexpr std::uint32_t kVersion = 5;
inline constexpr std::int32_t kAllRows = -1;
inline constexpr std::int32_t kHost = -1;            // in place of a device's number: memory of the machine
inline constexpr std::uint32_t lanes_max = 64;       // batches that a process runs at once
inline constexpr std::uint32_t functions_max = 256;  // that a process holds

// A tensor in the arena of the worker's tenant. Stacked: the first dimension is the rows of the batch; else of one row
// alone. On a device its bytes are in what the worker keeps there under that place, and the arena has anything.
struct Placed {
  data::TensorInfo info;
  std::int32_t row = kAllRows;
  std::uint64_t offset = 0, size = 0;  // in the arena
  std::int32_t device = kHost;
  friend bool operator==(const Placed&, const Placed&) = default;
  void visit(auto& archive) { archive(info, row, offset, size, device); }
};

// A stretch of the arena that a worker may write.
struct Space {
  std::uint64_t offset = 0, size = 0;
  friend bool operator==(const Space&, const Space&) = default;
  void visit(auto& archive) { archive(offset, size); }
};

// To the worker.
struct Hello {  // first and once, with the arena's descriptor; answered only by what comes after it
  std::uint32_t version = kVersion;
  std::uint64_t arena_bytes = 0;
  std::uint32_t lanes = 1;  // batches that may run at once; more than that wait in the worker for their turn
  GpuMode mode = GpuMode::green;
  std::uint32_t slices = 0;  // of its GPU; 0: it has none
  bool pinned = false;       // the arena's pages stay where they are, and are all there
  void visit(auto& archive) { archive(version, arena_bytes, lanes, mode, slices, pinned); }
};
struct Load {                  // answered with Loaded
  std::uint32_t function = 0;  // a number that the server chooses; free again after Unloaded, or a Loaded with an error
  std::string name;
  Body body;
  std::vector<Port> inputs, outputs;  // as declared; empty: not declared
  std::uint32_t threads = 1;
  std::int32_t device = kHost;  // where it is to run
  std::optional<Bytes> memory;  // of a GPU that it may take; none: whatever there is
  void visit(auto& archive) { archive(function, name, body, inputs, outputs, threads, device, memory); }
};
struct Move {  // takes a function off its device (host), or puts it back (device); answered with Moved
  std::uint32_t function = 0;
  Level level = Level::device;
  void visit(auto& archive) { archive(function, level); }
};
struct Unload {  // answered with Unloaded, after the batches of the function that are under way
  std::uint32_t function = 0;
  void visit(auto& archive) { archive(function); }
};
struct Run {                // answered with Ran
  std::uint64_t batch = 0;  // no other batch of the process that is under way has this number
  std::uint32_t function = 0;
  std::uint32_t rows = 1;
  std::uint32_t threads = 1;
  Duration emulated;         // how long an emulated function takes
  Time deadline;             // of the oldest
  SlicePositions positions;  // of a GPU that the batch has for itself; no slices: it runs on CPUs
  std::vector<Placed> inputs;
  Space outputs;
  bool keep = false;  // outputs of more than limits::kept_bytes_min may stay on the device, until they are released
  void visit(auto& archive) {
    archive(batch, function, rows, threads, emulated, deadline, positions, inputs, outputs, keep);
  }
};
struct Grant {  // what Wanted asked for, in place of the space before; of size 0: there is none
  std::uint64_t batch = 0;
  Space outputs;
  void visit(auto& archive) { archive(batch, outputs); }
};
struct Cancel {  // a batch that has not begun does not run, one that runs stops where its engine can; else nothing
                 // happens
  std::uint64_t batch = 0;
  void visit(auto& archive) { archive(batch); }
};
struct Fetch {  // copies what is kept under this place to the arena; answered with Fetched
  std::uint64_t offset = 0;
  void visit(auto& archive) { archive(offset); }
};
struct Release {  // what is kept under this place is not needed any more
  std::uint64_t offset = 0;
  void visit(auto& archive) { archive(offset); }
};
struct Stop {
  void visit(auto&) {}
};
using ToWorker = std::variant<Hello, Load, Unload, Run, Grant, Cancel, Stop, Move, Fetch, Release>;

// From the worker.
struct Loaded {
  std::uint32_t function = 0;
  std::string error;          // empty: ready
  std::uint32_t batches = 1;  // of this function that can run at once
  Bytes memory;               // that the process holds more than before, roughly
  Duration took;
  GpuForm form;         // that it has on a GPU, to be asked for next time
  Bytes device_memory;  // of its weights
  void visit(auto& archive) { archive(function, error, batches, memory, took, form, device_memory); }
};
struct Moved {
  std::uint32_t function = 0;
  std::string error;  // empty: it is where it was to be
  Duration took;
  void visit(auto& archive) { archive(function, error, took); }
};
struct Unloaded {
  std::uint32_t function = 0;
  void visit(auto& archive) { archive(function); }
};
struct Ran {
  std::uint64_t batch = 0;
  bool cancelled = false;               // it did not run, or stopped: nothing else is said
  std::string error;                    // of the whole batch; empty: see row_errors
  std::vector<std::string> row_errors;  // none, or one a row, empty where it succeeded
  std::vector<Placed> outputs;          // inside of the space that was granted; on device 0: kept
  Duration took;                        // execution alone
  Duration on_device;                   // of it, as a GPU measured it; none on CPUs
  bool first = false;                   // later ones will be shorter: something was prepared on the way
  GraphUse graphs;                      // on a GPU
  void visit(auto& archive) { archive(batch, cancelled, error, row_errors, outputs, took, on_device, first, graphs); }
};
struct Wanted {  // the outputs do not fit; answered with Grant
  std::uint64_t batch = 0;
  std::uint64_t bytes = 0;
  void visit(auto& archive) { archive(batch, bytes); }
};
struct Fetched {
  std::uint64_t offset = 0;
  std::string error;  // empty: the arena has it now; it is kept all the same
  void visit(auto& archive) { archive(offset, error); }
};
using FromWorker = std::variant<Loaded, Unloaded, Ran, Wanted, Moved, Fetched>;

// Appends nothing if the message is too large: then it is an error.
[[nodiscard]] Status encode(const ToWorker& message, std::string& out);
[[nodiscard]] Status encode(const FromWorker& message, std::string& out);
// An error unless the bytes are exactly one message.
[[nodiscard]] Result<ToWorker> decode_to_worker(std::string_view bytes);
[[nodiscard]] Result<FromWorker> decode_from_worker(std::string_view bytes);

}  // namespace sluice::wire
