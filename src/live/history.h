// History: the requests of the recent past, stage by stage, for `requests`, `trace` and the statistics. Written by the
// scheduler's thread, read by any; bounded in number and bytes, and then the oldest are forgotten. Readers hold the
// lock for pointers only: a request that has ended is not changed any more.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "domain/application.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "live/snapshot.h"

namespace sluice::live {

class History {
 public:
  // `bytes_max`: of finished requests and of the applications that only they may still need, roughly.
  explicit History(std::size_t finished_max, std::size_t bytes_max = 32u << 20)
      : finished_max_(finished_max), bytes_max_(bytes_max) {}

  struct Arrived {
    RequestId id;
    std::shared_ptr<const Application> application;
    std::uint32_t version = 1;
    Time arrival, deadline;
    bool asynchronous = false;
  };
  // Again for an id that has ended: as a new request.
  void arrived(const Arrived& arrived);
  void started(const StartBatch& start, Time now);
  void finished(const BatchFinished& event, Time now);
  void failed(BatchId batch, const std::string& error, Time now);
  void loaded(InstanceId instance, Time now);
  void unloaded(InstanceId instance);
  struct Ended {
    RequestState state = RequestState::met;
    Time at;
    Dollars cost = 0;
    StageId stage;
    std::string error;
  };
  void ended(RequestId id, const Ended& ended);
  void log(BatchId batch, const std::string& line);

  // The newest first, those that run among them without their stages.
  [[nodiscard]] std::vector<RequestRecord> list(const RequestQuery& query) const;
  [[nodiscard]] std::optional<RequestRecord> find(RequestId id) const;

 private:
  struct Span {
    RunPath path;
    StageId stage;
    Time ready, start, end;
    InvokerId invoker;
    Configuration configuration;
    SlicePositions positions;
    std::uint32_t members = 1, attempt = 0, item = 0;
    bool cold = false;
    Time loaded;  // where it is cold: when its function was
    BatchReason reason = {};
    std::string error;
    std::vector<std::string> log;
  };
  struct Entry {
    Arrived arrived;
    Ended ended{.state = RequestState::running};
    std::vector<Span> spans;
    std::size_t bytes = 0;      // once it has ended
    mutable bool read = false;  // a reader may hold it
  };
  struct Member {
    RequestId request;
    InvocationId invocation;
    std::size_t span = 0;
  };
  using Shared = std::shared_ptr<Entry>;
  using Entries = std::unordered_map<RequestId, Shared>;
  using Batches = std::unordered_map<BatchId, std::vector<Member>>;
  [[nodiscard]] static RequestRecord head_of(const Entry& entry);
  [[nodiscard]] static RequestRecord record_of(const Entry& entry);
  [[nodiscard]] static StageRecord stage_of(const Entry& entry, std::size_t index);
  [[nodiscard]] static Duration retried_after(const Entry& entry, std::size_t span);
  [[nodiscard]] Entry* running(RequestId id);      // null: it has ended, or is not known
  [[nodiscard]] Shared& unfinished(RequestId id);  // its place
  void end_batch(Batches::iterator batch);
  void release(const Entry& entry);
  void forget_oldest();

  const std::size_t finished_max_, bytes_max_;
  mutable std::mutex mutex_;
  Entries unfinished_;
  Entries ended_;                // the last one of each id; readers may hold its entry, which is not changed any more
  std::deque<Shared> finished_;  // in order of their end
  Batches batches_;
  // What was forgotten, for those who come next: under load memory is neither asked for nor given back.
  Entries::node_type spare_;
  Batches::node_type spare_batch_;
  std::map<InstanceId, Time> loaded_;
  std::unordered_map<const Application*, std::size_t> requests_of_;  // how many entries hold it
  std::size_t bytes_ = 0;
};

}  // namespace sluice::live
