// The page of the report, web/report.html, as the build puts it into the program; {{data}} is where the data go.
#pragma once
#include <string_view>

namespace sluice::cli {

extern const std::string_view kReportPage;

}  // namespace sluice::cli
