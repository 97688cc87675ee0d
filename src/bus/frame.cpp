#include "bus/frame.h"

#include "base/archive.h"
#include "base/text.h"

namespace sluice::bus {
namespace {

template <class Item>
Result<std::string> encode_one(const Frame<Item>& frame) {
  std::string out;
  Archive archive = Archive::saving(out);
  std::uint32_t version = kVersion;
  archive(version, const_cast<Frame<Item>&>(frame));  // saving changes nothing
  if (archive.ok() && out.size() <= frame_bytes_max) return out;
  return Error{ErrorCode::too_large, str("a message to or from an invoker has ", out.size(), " bytes, at most ",
                                         frame_bytes_max, " are allowed")};
}

template <class Item>
Result<Frame<Item>> decode_one(std::string_view bytes) {
  const Error rubbish{ErrorCode::invalid, str("a message of ", bytes.size(), " bytes is not one of the bus")};
  if (bytes.size() > frame_bytes_max) return rubbish;
  Archive archive = Archive::loading(bytes);
  std::uint32_t version = 0;
  archive(version);
  if (archive.ok() && version != kVersion) {
    return Error{ErrorCode::invalid, str("the other end speaks version ", version, " of the bus, this one ", kVersion,
                                         "; both have to be of one build")};
  }
  Frame<Item> frame;
  archive(frame);
  // A clock that nobody has would make differences that no number holds.
  constexpr Time kLatest = Time::from_ns(std::int64_t{1} << 62);
  if (!archive.ok() || !archive.at_end() || frame.items.size() > frame.sent) return rubbish;
  if (frame.at < Time() || frame.at > kLatest) return rubbish;
  return frame;
}

}  // namespace

Result<std::string> encode(const Frame<ToInvoker>& frame) {
  return encode_one(frame);
}
Result<std::string> encode(const Frame<FromInvoker>& frame) {
  return encode_one(frame);
}
Result<std::string> encode(const Frame<FromGateway>& frame) {
  return encode_one(frame);
}
Result<std::string> encode(const Frame<ToGateway>& frame) {
  return encode_one(frame);
}
Result<Frame<ToInvoker>> decode_to_invoker(std::string_view bytes) {
  return decode_one<ToInvoker>(bytes);
}
Result<Frame<FromInvoker>> decode_from_invoker(std::string_view bytes) {
  return decode_one<FromInvoker>(bytes);
}
Result<Frame<FromGateway>> decode_from_gateway(std::string_view bytes) {
  return decode_one<FromGateway>(bytes);
}
Result<Frame<ToGateway>> decode_to_gateway(std::string_view bytes) {
  return decode_one<ToGateway>(bytes);
}

}  // namespace sluice::bus
