// BatchCounts: what batches under way are of, so that their ends are counted for the right model and stage.
#pragma once
#include <unordered_map>

#include "domain/commands.h"
#include "domain/events.h"
#include "live/directory.h"

namespace sluice::live {

class BatchCounts {
 public:
  void started(const StartBatch& batch, Time now);
  void finished(const BatchFinished& event, Time now, Directory& directory);
  void lost(BatchId batch) { under_way_.erase(batch); }
  void forget(ApplicationId application);

 private:
  struct Batch {
    ApplicationId application;
    RunPath path;  // of its oldest member
    StageId stage;
    FunctionId function;  // of the application
    std::uint32_t members = 0;
    Duration waited;  // all of them together
  };
  static void count(Directory& directory, const Batch& batch, const BatchFinished& event, Time now);
  static void count_stage(Installed& installed, const Batch& batch, Duration measured);

  std::unordered_map<BatchId, Batch> under_way_;
};

}  // namespace sluice::live
