// What two machines say to each other about objects: questions and answers, as bytes with a version. Any bytes may come
// in. Both may be lost, doubled and overtaken: a question is asked again until it is answered, and answering it twice
// does no harm.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "bus/objects.h"

namespace sluice::bus {

inline constexpr std::uint32_t kObjectsVersion = 1;
inline constexpr std::size_t object_part_bytes_max = 8u << 20;  // of an object in one answer

struct Ask {
  std::uint64_t number = 0;  // the answer repeats it
  InvokerId from;            // none: a gateway, which is never asked back
  std::uint64_t held = 0;    // objects of the request at the asker
  ObjectName name;
  std::uint64_t copy = 0;    // offset > 0: of which copy, as the first answer said
  std::uint64_t offset = 0;  // where the part of it begins that is wanted
  std::uint64_t most = 0;    // bytes of it
  void visit(auto& archive) { archive(number, from, held, name, copy, offset, most); }
};

struct Answer {
  enum class Kind : std::uint8_t {
    unknowing,
    absent,
    part,  // of the object as a tensor blob (data/tensor_blob.h)
    gone,  // the copy is not kept any more: begin again
  };
  friend constexpr Kind last_of(Kind) { return Kind::gone; }
  std::uint64_t number = 0;
  Kind kind = Kind::unknowing;
  std::uint64_t held = 0;                         // objects of the request at whoever answers
  std::uint64_t copy = 0, total = 0, offset = 0;  // of the part; total: bytes of the whole copy
  std::string bytes;
  void visit(auto& archive) { archive(number, kind, held, copy, total, offset, bytes); }
};

using ObjectMessage = std::variant<Ask, Answer>;

[[nodiscard]] std::string encode(const ObjectMessage& message);
// An error unless the bytes are exactly one message of this version that makes sense by itself.
[[nodiscard]] Result<ObjectMessage> decode_object_message(std::string_view bytes);

}  // namespace sluice::bus
