// Whatever the bytes are: a profile file is a table without problems or is refused with a reason. Both formats read
// every input; a table survives being written.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "domain/profile_rules.h"
#include "spec/csv/mig_profile.h"

using namespace sluice;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const spec::ProfileCsv& csv : {spec::read_profile_csv(text), spec::read_mig_profile(text, 0.05)}) {
    for (const spec::CsvError& error : csv.errors) CHECK(error.line > 0 && error.column > 0 && !error.message.empty());
    if (!csv.ok()) continue;
    CHECK(problems_of(csv.table).empty());
    CHECK(spec::read_profile_csv(spec::write_profile_csv(csv.table)).table == csv.table);
  }
  return 0;
}
