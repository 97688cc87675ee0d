// Confinement: what a worker gives up before it runs anything of a tenant. The server says it in the first message to a
// fresh worker, and in every request to the parked parent; worker/confine.h carries it out.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::wire {

struct Confinement {
  std::uint32_t user = 0;              // user and group it becomes; 0: it stays who it is
  bool landlock = false;               // only these files, where the kernel can do that
  std::vector<std::string> readable;   // files and folders besides the system's
  std::string scratch;                 // the folder it may write to
  std::uint64_t processes_max = 0;     // of its user; 0: no limit
  bool model = false;                  // the file it loads came along, open for reading
  std::int64_t server = 0;             // process, whose end ends a fresh worker
  std::vector<std::string> variables;  // of its environment besides what is there, as NAME=VALUE
  friend bool operator==(const Confinement&, const Confinement&) = default;
  void visit(auto& archive) { archive(user, landlock, readable, scratch, processes_max, model, server, variables); }
};

inline constexpr int kModelDescriptor = 4;  // of a worker: the file it loads, if one came along

[[nodiscard]] std::string encode(const Confinement& confinement);
[[nodiscard]] Result<Confinement> decode_confinement(std::string_view bytes);

}  // namespace sluice::wire
