// Whatever the bytes are: a trace is played in the order of time or refused with a reason. Both formats read every
// input.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "workload/stream.h"

using namespace sluice;
using namespace sluice::workload;

namespace {

void play(std::string_view text, const Trace& trace) {
  const std::vector<std::string> applications = {"a", "b", "c"};
  const Workload workload{.arrivals = trace, .requests = 1000, .warmup = 0};
  auto stream = ArrivalStream::make(workload, applications, 1, text);
  if (!stream) {
    CHECK(!stream.error().message.empty());
    return;
  }
  Duration before;
  while (const auto arrival = stream->next()) {
    CHECK(arrival->at >= before && arrival->application < applications.size() && arrival->size > 0);
    before = arrival->at;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const TraceFormat format : {TraceFormat::azure_functions_2019, TraceFormat::azure_llm_2023}) {
    play(text, {.format = format, .file = "fuzz.csv"});
    play(text, {.format = format, .file = "fuzz.csv", .time_scale = 1.7, .rate_scale = 2.5});
  }
  return 0;
}
