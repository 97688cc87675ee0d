// The logs of `sluice reproduce --csv`: every request of every run.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "reproduce/esg_player.h"

namespace sluice::report {

class ReproduceLog {
 public:
  explicit ReproduceLog(std::string folder) : folder_(std::move(folder)) {}
  // Writes FOLDER/EXPERIMENT/SETTING/CONTENDER-seedN/requests.csv while it lives. May be called from several threads.
  [[nodiscard]] std::unique_ptr<sim::Observer> open(const reproduce::Trial& trial);
  void failed(Error error);             // only the first is kept
  [[nodiscard]] Status status() const;  // REQUIRES: nobody writes any more

 private:
  std::string folder_;
  std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace sluice::report
