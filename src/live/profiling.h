// Profiling: how long functions take, by a key of their content: what was measured before, and a thread that measures
// the others and tells the runner and the store. Used by Deployments.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

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
    std::uint32_t vcpu_max = 1;         // of one machine
    Duration budget = Duration::s(20);  // for each function
    std::function<void(const std::string&)> say;
  };
  // All must outlive the profiling; `runner` is told what was measured.
  Profiling(Options options, data::Arenas& arenas, store::Writer& writer, store::Reader& reader,
            Mailbox<Letter>& runner);
  ~Profiling() { stop(); }
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;

  // From any thread: what is known of a function.
  [[nodiscard]] std::optional<Profile> find(std::uint64_t key) const;
  // Later, one function after the other.
  void measure(std::shared_ptr<const Application> application, std::vector<Unprofiled> functions);
  void stop();  // soon; what is being measured is forgotten

 private:
  void measure(const Application& application, const Unprofiled& wanted);
  void keep(std::uint64_t key, const ProfileTable& table);
  void say(const std::string& line) const;

  Options options_;
  data::Arenas& arenas_;
  store::Writer& writer_;
  store::Reader& reader_;
  Mailbox<Letter>& runner_;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Profile> measured_;  // by key, since the start; guarded
  invoker::TaskThread thread_;
};

}  // namespace sluice::live
