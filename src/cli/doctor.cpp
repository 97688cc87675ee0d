#include "cli/doctor.h"

#include <fmt/format.h>

#include <vector>

#include "cli/data_directory.h"
#include "cli/doctor_checks.h"
#include "cli/terminal.h"
#include "data/json.h"

namespace sluice::cli {
namespace {

std::string_view name_of(Finding::Level level) {
  switch (level) {
    case Finding::Level::ok:
      return "ok";
    case Finding::Level::warning:
      return "warning";
    case Finding::Level::error:
      break;
  }
  return "error";
}

void print(const Finding& finding) {
  const std::string level = fmt::format("{}:", name_of(finding.level));
  fmt::print("{} {}\n",
             finding.level == Finding::Level::ok      ? green(level)
             : finding.level == Finding::Level::error ? red(level)
                                                      : bold(level),
             finding.message);
}

data::Json to_json(const Finding& finding) {
  return {data::JsonObject{
      {"check", {finding.check}}, {"level", {std::string(name_of(finding.level))}}, {"message", {finding.message}}}};
}

}  // namespace

int doctor_command(const DoctorOptions& options) {
  const std::vector<Finding> findings = {check_worker(),     check_python(),
                                         check_limits(),     check_workers(),
                                         check_gpu(),        check_shared_memory(),
                                         check_open_files(), check_data(data_directory(options.data)),
                                         check_clock(),      check_server(options.server)};
  data::JsonArray checks;
  bool right = true;
  for (const Finding& finding : findings) {
    right = right && finding.level != Finding::Level::error;
    if (options.server.json)
      checks.push_back(to_json(finding));
    else
      print(finding);
  }
  if (options.server.json) fmt::print("{}\n", data::to_text({data::JsonObject{{"checks", {std::move(checks)}}}}));
  return right ? 0 : 1;
}

}  // namespace sluice::cli
