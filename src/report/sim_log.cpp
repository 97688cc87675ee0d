#include "report/sim_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace sluice::report {

SimLog::SimLog(const std::string& folder)
    : requests_file_(folder + "/requests.csv"),
      actions_file_(folder + "/actions.csv"),
      requests_(requests_file_, std::ios::binary),
      actions_(actions_file_, std::ios::binary),
      log_(requests_, actions_) {}

Result<std::unique_ptr<SimLog>> SimLog::open(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return Error{ErrorCode::io, fmt::format("cannot make the folder '{}': {}", folder, problem.message())};
  errno = 0;
  std::unique_ptr<SimLog> log(new SimLog(folder));
  for (const auto& [stream, file] :
       {std::pair(&log->requests_, &log->requests_file_), std::pair(&log->actions_, &log->actions_file_)}) {
    if (!stream->is_open())
      return Error{ErrorCode::io, fmt::format("cannot write '{}': {}", *file, std::strerror(errno))};
  }
  return log;
}

Status SimLog::close() {
  errno = 0;
  requests_.close();
  actions_.close();
  for (const auto& [stream, file] : {std::pair(&requests_, &requests_file_), std::pair(&actions_, &actions_file_)}) {
    if (!stream->good())
      return Error{ErrorCode::io, fmt::format("cannot write '{}': {}", *file,
                                              errno != 0 ? std::strerror(errno) : "is the disk full?")};
  }
  return Done{};
}

}  // namespace sluice::report
