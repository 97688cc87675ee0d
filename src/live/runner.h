// Runner: the scheduler, run by one thread at a time: its own, or one that already serves those who ask, so that
// neither a request nor its answer changes threads. Letters come in through a bounded mailbox; all that is there is
// observed, logged and decided at once; commands leave after the log is on disk. Nothing else touches the scheduler.
// Plans are made in a thread of their own.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/remark.h"
#include "bus/door.h"
#include "bus/link.h"
#include "core/scheduler.h"
#include "data/arenas.h"
#include "invoker/waker.h"
#include "live/batch_counts.h"
#include "live/callers.h"
#include "live/directory.h"
#include "live/event_log.h"
#include "live/history.h"
#include "live/installer.h"
#include "live/mailbox.h"
#include "live/planning.h"
#include "live/remark_rate.h"
#include "live/service.h"
#include "live/standings.h"
#include "live/step_clock.h"

namespace sluice::live {

struct Arriving {
  bus::Arrival arrival;
  bus::Gateway* from = nullptr;
};
struct Cancelling {
  RequestId request;
};
struct Profiled {  // of every function of this content, whichever applications have it
  std::uint64_t key = 0;
  ProfileStanding standing;
  std::shared_ptr<const Profile> profile = {};  // null: as it was
};
struct Branched {  // by an earlier start
  std::string tenant, application;
  BranchesKnown known;  // of no application yet
};
struct Believed {
  std::shared_ptr<const Application> application;
  std::uint32_t version = 1;
  BranchesKnown branches;
};
struct Telling {  // what planners believe of every application that is deployed, for whoever keeps it
  std::function<void(std::vector<Believed>)> tell;
};
struct Barrier {
  std::function<void()> reached;  // all letters before this one are read, and the snapshot shows what they did
};
struct Stopping {};  // the thread
using Letter = std::variant<Event, Arriving, bus::AnswerTaken, Deploying, Missing, Removing, Cancelling, Profiled,
                            Branched, Telling, Barrier, Stopping>;

class Runner final : public bus::Door {
 public:
  struct Listeners {                               // who wants to know
    std::function<void(ApplicationId)> forgotten;  // it was removed, and nothing of it is left
    std::function<void(Snapshot&)> describe;       // adds what others know
    std::function<void(FirstRequest)> sampled;     // may be none
    OnRemark remark;
  };
  // `waker`: wakes when `link` has something to receive.
  struct Machines {
    bus::Link& link;
    invoker::Waker& waker;
  };
  Runner(std::unique_ptr<core::Scheduler> scheduler, EventLog log, data::Arenas& arenas, Machines machines,
         Listeners listeners, std::size_t mailbox_max);
  ~Runner() override { stop(); }

  void start();
  void stop();  // now; what is under way stays unanswered

  // Its thread ends, and the calling one runs it from now on: it calls work() whenever the waker wakes, and soon after
  // it has been asked to by `soon`, which is called in that thread.
  void lend(std::function<void()> soon);
  void work();       // does not wait
  void take_back();  // its own thread again; the other one does not call work() any more

  [[nodiscard]] bool offer(std::span<bus::Arrival> arrivals, bus::Gateway& from) override;
  void cancel(RequestId request) override { mailbox_.post(Cancelling{request}); }
  void taken(bus::AnswerTaken taken) override { mailbox_.post(std::move(taken)); }
  [[nodiscard]] Mailbox<Letter>& mailbox() { return mailbox_; }
  [[nodiscard]] History& history() { return history_; }
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const { return std::atomic_load(&snapshot_); }
  [[nodiscard]] std::uint64_t in_system() const { return in_system_.load(); }

 private:
  void loop();
  void ring();
  void decide();
  void read(Letter& letter);
  void read(Event& event);
  void read(Arriving& arriving);
  void read(bus::AnswerTaken& taken) { callers_.taken(taken, now_); }
  void read(Deploying& deploying) { installer_.deploy(std::move(deploying), now_); }
  void read(Missing& missing);
  void read(Removing& removing) { installer_.remove(removing); }
  void read(Cancelling& cancelling);
  void read(Profiled& profiled);
  void read(Branched& branched);
  void read(Telling& telling);
  void read(Barrier& barrier);
  void read(Stopping&) { running_ = false; }
  void observe(const Event& event);
  void deliver(Commands& commands);
  [[nodiscard]] std::optional<Time> wake_at() const;
  void publish();
  void note_step();
  void note_unlucky(const Callers::Ended& ended);

  std::unique_ptr<core::Scheduler> scheduler_;
  EventLog log_;
  data::Arenas& arenas_;
  bus::Link& link_;
  invoker::Waker& waker_;
  Listeners listeners_;
  Mailbox<Letter> mailbox_;
  History history_;
  std::thread thread_;
  std::atomic<std::thread::id> borrower_{};  // no thread: not lent
  std::function<void()> soon_;               // of the borrower alone

  // Of the thread that runs it alone.
  bool running_ = true;
  std::vector<Letter> letters_;  // that are being read
  Time now_, started_, published_;
  bool told_ = false;    // something, since the last decision
  bool changed_ = true;  // something, since the snapshot
  Directory directory_;
  Standings standings_;
  Installer installer_;
  Callers callers_;
  RemarkRate unlucky_;  // requests that failed or were refused
  BatchCounts batches_;
  bus::Heard heard_;   // scratch
  Commands commands_;  // of the last decision
  std::uint64_t bytes_in_ = 0;
  TimeCounts decisions_, steps_;
  StepClock step_;
  Time slow_told_;

  std::shared_ptr<const Snapshot> snapshot_ = std::make_shared<Snapshot>();
  std::atomic<std::uint64_t> in_system_ = 0;
  Planning planning_;  // ends first: it posts letters
};

}  // namespace sluice::live
