// The log files of one simulated run (`sluice sim --csv`).
#pragma once
#include <fstream>
#include <memory>
#include <string>

#include "base/result.h"
#include "sim/run_log.h"

namespace sluice::report {

class SimLog {
 public:
  // FOLDER/requests.csv and FOLDER/actions.csv, made afresh; the folder is made if it is not there.
  [[nodiscard]] static Result<std::unique_ptr<SimLog>> open(const std::string& folder);
  [[nodiscard]] sim::Observer& observer() { return log_; }
  // An error if something could not be written, such as on a full disk.
  [[nodiscard]] Status close();

 private:
  explicit SimLog(const std::string& folder);
  std::string requests_file_, actions_file_;
  std::ofstream requests_, actions_;
  sim::RunLog log_;
};

}  // namespace sluice::report
