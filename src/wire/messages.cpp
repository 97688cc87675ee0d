#include "wire/messages.h"

#include "base/text.h"

namespace sluice::wire {
namespace {

template <class Message>
Status encode_one(const Message& message, std::string& out) {
  out.clear();
  Archive archive = Archive::saving(out);
  archive(const_cast<Message&>(message));  // saving changes nothing
  if (archive.ok() && out.size() <= message_bytes_max) return Done{};
  const std::size_t size = out.size();
  out.clear();
  return Error{ErrorCode::too_large,
               str("a message to or from a worker has ", size, " bytes, at most ", message_bytes_max, " are allowed")};
}

template <class Message>
Result<Message> decode_one(std::string_view bytes) {
  Message message;
  Archive archive = Archive::loading(bytes);
  archive(message);
  if (!archive.ok() || !archive.at_end()) {
    return Error{ErrorCode::invalid, str("a message of ", bytes.size(), " bytes is not one of the worker protocol")};
  }
  return message;
}

}  // namespace

Status encode(const ToWorker& message, std::string& out) {
  return encode_one(message, out);
}
Status encode(const FromWorker& message, std::string& out) {
  return encode_one(message, out);
}
Result<ToWorker> decode_to_worker(std::string_view bytes) {
  return decode_one<ToWorker>(bytes);
}
Result<FromWorker> decode_from_worker(std::string_view bytes) {
  return decode_one<FromWorker>(bytes);
}

}  // namespace sluice::wire
