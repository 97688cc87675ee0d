// Whatever the bytes are: read or refused with a reason, and what is read is written as the same bytes again. Taken as
// a log, and as the content of one record, because no changed byte gets past a log's checksums.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "record/event_check.h"
#include "record/log_reader.h"
#include "record/log_writer.h"

using namespace sluice;
using namespace sluice::record;

namespace {

void read_log(const std::string& bytes) {
  std::istringstream in(bytes);
  auto log = LogReader::open(in);
  if (!log) return;
  std::string again;
  LogWriter writer(again);
  writer.header(log->header());
  EventCheck allowed;
  for (;;) {
    const auto record = log->next();
    CHECK(log->offset() <= bytes.size());
    if (!record || !*record) break;
    if (const auto* observed = std::get_if<Observed>(&**record)) {
      (void)allowed.check(*observed);
      writer.observed(observed->event, observed->at);
    } else {
      writer.decided(std::get<Decided>(**record));
    }
  }
  CHECK(std::string_view(bytes).starts_with(again) && again.size() == log->offset());
}

void read_event(std::string_view bytes) {
  const auto observed = decode(bytes);
  if (!observed) return;
  std::string again;
  encode(observed->event, observed->at, again);
  CHECK(again == bytes);
  (void)EventCheck().check(*observed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_log(bytes);
  read_event(bytes);
  return 0;
}
