// Profiling: how long functions take, by a key of their content: what was measured before, what executions have taught
// since, and a thread that measures the others. What is measured or learned is in the store, so that a scheduler that
// begins anew is told. Used by Deployments.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/remark.h"
#include "domain/cluster.h"
#include "invoker/spawner.h"
#include "invoker/task_thread.h"
#include "live/deployment.h"
#include "live/runner.h"
#include "store/reader.h"
#include "store/writer.h"

namespace sluice::live {

class Profiling {
 public:
  struct Options {
    invoker::Spawner::Options spawner;
    std::uint32_t vcpu_max = 1;            // of one machine
    Duration budget = Duration::s(20);     // for each function
    Duration keep_every = Duration::s(5);  // what was learned
    OnRemark say;
  };
  // All must outlive the profiling; `runner` is told what was measured.
  Profiling(Options options, data::Arenas& arenas, store::Writer& writer, store::Reader& reader,
            Mailbox<Letter>& runner);
  ~Profiling() { stop(); }
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;

  // From any thread: what is known of a function.
  [[nodiscard]] std::optional<Profile> find(std::uint64_t key) const;
  // From any thread; takes as long as loading them. An error if a function does not load, crashes or hangs, other than
  // those of `fine`; what else is to be said of them goes to its messages.
  [[nodiscard]] Status try_out(Prepared& prepared, const std::vector<bool>& fine) const;
  // Later, one function after the other.
  void measure(std::shared_ptr<const Application> application, std::vector<Unprofiled> functions);
  // Later as well. Where too much waits to be measured already, the function waits for another request.
  void measure(FirstRequest request);
  // Tells the runner what was learned of these functions by earlier starts, and keeps what it learns from now on.
  void watch(const Application& application, std::uint32_t version, const std::vector<std::uint64_t>& keys);
  void stop();  // soon; what is being measured is forgotten

 private:
  struct Watched {
    std::vector<std::uint64_t> keys;
    std::vector<Profile> kept;  // by function: as deployed, or as it was kept last
    std::string branches;       // as they were kept last
  };
  void measure(const Application& application, const Unprofiled& wanted);
  [[nodiscard]] Result<ProfileTable> measured(const Application& application, const Unprofiled& wanted);
  void not_measured(const Function& function, const Unprofiled& wanted, const Error& why);
  void tell_measured(std::uint64_t key, Profile profile);
  void keep(std::uint64_t key, const ProfileTable& table);
  void look_at_learned();
  void keep_learned(const std::vector<Believed>& believed);
  void keep_times(const Application& believed, Watched& watched);
  void keep_branches(const Believed& believed, Watched& watched);
  void put(std::uint64_t key, std::string text);  // into the store, later
  void say(Remark::Level level, std::string text) const;

  Options options_;
  data::Arenas& arenas_;
  store::Writer& writer_;
  store::Reader& reader_;
  Mailbox<Letter>& runner_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> sample_bytes_ = 0;  // of first requests that wait to be measured with
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Profile> measured_;  // by key, since the start; guarded
  std::map<std::tuple<std::string, std::string, std::uint32_t>, Watched>
      watched_;  // by tenant, application and version; guarded
  std::condition_variable stopped_;
  std::thread watcher_;
  invoker::TaskThread thread_;
};

}  // namespace sluice::live
