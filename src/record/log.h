// What an event log consists of. On disk: the magic, the format's version, then records
//   {length: 4 bytes, the length's complement: 4, checksum: 8, content}
// in little-endian order; the first holds the header. The complement tells a torn last record from a changed length.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"
#include "core/scheduler.h"
#include "policy/policy.h"
#include "record/event_codec.h"

namespace sluice::record {

// What made the scheduler whose events follow, so that replay can make the same one.
struct LogHeader {
  std::string scheduler;  // its name in policy/catalog.h
  policy::Parameters parameters;
  core::Limits limits;
  Transfer transfer;              // what moving inputs was believed to take
  std::uint64_t begins_with = 0;  // hash_of_save() of the state before the first event; 0: a new scheduler
  void visit(auto& archive) { archive(scheduler, parameters, limits, transfer, begins_with); }
};

// What a header says of the save that its log goes on from; never 0.
[[nodiscard]] std::uint64_t hash_of_save(std::string_view save);

// The scheduler decided, for everything observed before; what it wanted done is kept as a hash only.
struct Decided {
  Time at;
  std::uint64_t commands = 0;  // how many
  std::uint64_t hash = 0;      // command_hash.h
  friend bool operator==(const Decided&, const Decided&) = default;
  void visit(auto& archive) { archive(at, commands, hash); }
};

using Record = std::variant<Observed, Decided>;

// The form of the bytes; only log_writer.cpp and log_reader.cpp look at these.
enum class RecordKind : std::uint8_t { header, observed, decided };
constexpr RecordKind last_of(RecordKind) {
  return RecordKind::decided;
}
inline constexpr std::string_view kLogMagic = "sluicelog";
inline constexpr std::uint8_t kLogVersion = 15;  // of the bytes; grows when a type that is saved changes

struct RecordFrame {
  std::uint32_t length = 0, complement = 0;
  std::uint64_t checksum = 0;
  void visit(auto& archive) { archive(length, complement, checksum); }
};
inline constexpr std::size_t kRecordFrameBytes = 16;
[[nodiscard]] RecordFrame frame_of(std::string_view content);

}  // namespace sluice::record
