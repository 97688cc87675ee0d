// The page of the report: web/report.html and what it includes, as the build puts it into the program. The data go
// where {{data}} stands.
#pragma once
#include <string_view>

namespace sluice::report {

extern const std::string_view kReportPage;

}  // namespace sluice::report
