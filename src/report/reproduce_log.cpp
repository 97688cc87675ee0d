#include "report/reproduce_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "sim/run_log.h"

namespace sluice::report {
namespace {

class RequestLog final : public sim::Observer {
 public:
  RequestLog(ReproduceLog& owner, std::string file)
      : owner_(owner), file_(std::move(file)), out_(file_, std::ios::binary), log_(out_, nothing_) {}
  ~RequestLog() override {
    out_.close();
    if (!out_) owner_.failed({ErrorCode::io, fmt::format("cannot write '{}': {}", file_, std::strerror(errno))});
  }
  void request(const sim::RequestRow& row) override { log_.request(row); }
  void action(const sim::ActionRow&) override {}

 private:
  ReproduceLog& owner_;
  std::string file_;
  std::ofstream out_;
  std::ostream nothing_{nullptr};
  sim::RunLog log_;
};

}  // namespace

std::unique_ptr<sim::Observer> ReproduceLog::open(const reproduce::Trial& trial) {
  const std::string folder =
      fmt::format("{}/{}/{}/{}-seed{}", folder_, trial.experiment, trial.setting, trial.contender, trial.seed);
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) failed({ErrorCode::io, fmt::format("cannot make the folder '{}': {}", folder, problem.message())});
  return std::make_unique<RequestLog>(*this, folder + "/requests.csv");
}

void ReproduceLog::failed(Error error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
}

Status ReproduceLog::status() const {
  if (error_) return *error_;
  return Done{};
}

}  // namespace sluice::report
