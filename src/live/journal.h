// Journal: asynchronous requests from their acceptance to their answer. A request is on disk before it is accepted, and
// stays accepted until it is answered or its application is removed: what cannot be let in now (an application that
// this start cannot run, a full arena, a full mailbox, machines that are full) waits on disk, in order, and is let in
// when it can be. What an earlier server left unanswered begins the same way. Used by Platform.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/remark.h"
#include "data/arenas.h"
#include "live/backlog.h"
#include "live/desk.h"
#include "live/service.h"
#include "store/reader.h"
#include "store/writer.h"

namespace sluice::live {

class Journal {
 public:
  struct Options {
    std::size_t waiting_max = 1'000'000;  // more are not accepted
    std::size_t let_in_max = 1'024;       // of those that waited, at once
    OnRemark say;
  };
  // All must outlive the journal; `desk` is where requests are let in. Those of `unfinished` wait until
  // applications_changed() is called for the first time.
  Journal(Options options, store::Writer& writer, store::Reader& reader, data::Arenas& arenas, Desk& desk,
          const std::vector<store::Request>& unfinished);
  ~Journal() { stop(); }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // `accepted` is called when the request is on disk, or with why it is not. REQUIRES: the call has its objective, and
  // names the application by the name it has itself.
  void accept(RequestId id, Call call, std::function<void(Result<RequestId>)> accepted);
  // False: it does not wait here.
  [[nodiscard]] bool cancel(const Principal& principal, RequestId id);
  // What is ready is let in, what is unavailable is kept, requests of other applications are answered: it was removed.
  void applications_changed(const Snapshot& snapshot);
  void pause();  // lets nothing in any more; the next start does
  void stop();

  [[nodiscard]] std::size_t waiting() const;
  // What is on disk, from any thread.
  [[nodiscard]] std::vector<RequestRecord> list(const RequestQuery& query) const;  // newest first
  [[nodiscard]] std::optional<RequestRecord> find(RequestId request) const;
  [[nodiscard]] std::shared_ptr<const data::Tensors> outputs_of(RequestId request) const;

 private:
  enum class Outcome : std::uint8_t { let_in, no_room, settled };
  struct Kept {
    store::Answer answer;
    data::Tensors outputs;
  };
  void let_in_fresh(RequestId id, Call call);
  [[nodiscard]] bool passes(const Answer& answer, bool waited) const;
  void run();
  [[nodiscard]] std::optional<Time> due() const;
  [[nodiscard]] Outcome let_in(const Backlog::Waiting& waiting, bool alone);
  void answered(const Backlog::Waiting& waiting, bool waited, const Answer& answer);
  [[nodiscard]] bool crowded(std::size_t more) const;
  void finish(RequestId id, const Answer& answer);
  void finish(RequestId id, store::State state, std::string error);
  void write_answer(RequestId id, const std::shared_ptr<const Kept>& kept);
  void written(RequestId id, const std::shared_ptr<const Kept>& kept, const Status& status);
  void say(Remark remark) const;

  const Options options_;
  store::Writer& writer_;
  store::Reader& reader_;
  data::Arenas& arenas_;
  Desk& desk_;

  mutable std::mutex mutex_;  // guards all that follows
  std::condition_variable changed_;
  Backlog backlog_;
  std::size_t let_in_ = 0;  // of those that waited, and are not answered
  Time no_room_until_;
  bool told_ = false, paused_ = false, stopping_ = false;
  std::vector<std::function<void()>> unwritten_;  // answers that did not get onto the writer's queue
  std::thread thread_;                            // lets in
};

}  // namespace sluice::live
