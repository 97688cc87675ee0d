#include "bus/object_frame.h"

#include "base/archive.h"
#include "base/text.h"
#include "domain/limits.h"

namespace sluice::bus {
namespace {

bool sensible(const Ask& ask) {
  return ask.name.key.path.size() <= limits::foreach_depth_max && ask.most > 0 && ask.most <= object_part_bytes_max;
}

bool sensible(const Answer& answer) {
  const std::uint64_t size = answer.bytes.size();
  if (answer.kind != Answer::Kind::part) return size == 0;
  return size > 0 && size <= object_part_bytes_max && answer.offset <= answer.total &&
         size <= answer.total - answer.offset;
}

}  // namespace

std::string encode(const ObjectMessage& message) {
  std::string out;
  Archive archive = Archive::saving(out);
  std::uint32_t version = kObjectsVersion;
  archive(version, const_cast<ObjectMessage&>(message));  // saving changes nothing
  return out;
}

Result<ObjectMessage> decode_object_message(std::string_view bytes) {
  const Error rubbish{ErrorCode::invalid, str("a message of ", bytes.size(), " bytes is not one about objects")};
  Archive archive = Archive::loading(bytes);
  std::uint32_t version = 0;
  archive(version);
  if (archive.ok() && version != kObjectsVersion) {
    return Error{ErrorCode::invalid, str("the other end speaks version ", version, " about objects, this one ",
                                         kObjectsVersion, "; both have to be of one build")};
  }
  ObjectMessage message;
  archive(message);
  if (!archive.ok() || !archive.at_end()) return rubbish;
  if (!std::visit([](const auto& m) { return sensible(m); }, message)) return rubbish;
  return message;
}

}  // namespace sluice::bus
