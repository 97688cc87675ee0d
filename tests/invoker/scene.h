// An agent with real workers and nobody above it: tests say what is loaded and run, and see the events.
#pragma once
#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "data/clock.h"
#include "invoker/agent.h"
#include "spec/load.h"

namespace sluice::invoker_test {

// What a process holds that it has to give back.
struct Held {
  std::size_t descriptors = 0, children = 0;
  friend bool operator==(const Held&, const Held&) = default;
  friend void PrintTo(const Held& held, std::ostream* out) {
    *out << held.descriptors << " descriptors, " << held.children << " children";
  }
};

inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  DIR* open = ::opendir(folder.c_str());
  if (open == nullptr) return out;
  while (const dirent* entry = ::readdir(open)) {
    if (entry->d_name[0] != '.') out.emplace_back(entry->d_name);
  }
  ::closedir(open);
  return out;
}

inline Held held_now() {
  Held out{.descriptors = names_in("/proc/self/fd").size()};
  for (const std::string& thread : names_in("/proc/self/task")) {
    std::ifstream children("/proc/self/task/" + thread + "/children");
    for (std::string pid; children >> pid;) ++out.children;
  }
  return out;
}

// What is killed is gone a moment later. Half a minute is more than that.
inline bool children_are(std::size_t count) {
  for (const Time until = data::now() + Duration::s(30); held_now().children != count; std::this_thread::yield()) {
    if (data::now() > until) return false;
  }
  return true;
}

inline Application application_of(const std::string& document) {
  const auto loaded = spec::load("app.yaml", [&](const std::string&) -> Result<std::string> { return document; });
  for (const auto& diagnostic : loaded.diagnostics.sorted()) ADD_FAILURE() << to_string(diagnostic);
  return std::get<Application>(*loaded.document);
}

// An application of one stage of one function, both called `name`.
inline Application alone(const std::string& name, const std::string& function) {
  return application_of("application: a\nslo: 1s\nfunctions: {" + name + ": " + function + "}\nworkflow: {" + name +
                        ": {}}\n");
}

class Scene {
 public:
  Scene(Application application, invoker::AgentOptions options)
      : arena_(arenas_.of("default").value()),
        agent_(std::move(options), arenas_, objects_,
               {.event = [this](Event event) { events_.push_back(std::move(event)); },
                .log = [this](BatchId, const std::string& line) { lines_.push_back(line); },
                .note =
                    [this](const Remark& remark) {
                      if (!remark.quiet) notes_.push_back(remark.text);
                    },
                .sample = [this](bus::Sampled sample) { samples_.push_back(std::move(sample)); }}) {
    EXPECT_TRUE(agent_.start().ok());
    agent_.deploy(ApplicationId(0), std::make_shared<const Application>(std::move(application)));
  }

  invoker::Agent& agent() { return agent_; }
  data::Arena& arena() { return *arena_; }
  data::ObjectStore& objects() { return objects_; }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const std::vector<bus::Sampled>& samples() const { return samples_; }

  void load(std::uint64_t instance = 1, Level level = Level::host) {
    act(LoadInstance{.invoker = InvokerId(0),
                     .instance = InstanceId(instance),
                     .application = ApplicationId(0),
                     .function = FunctionId(0),
                     .level = level});
  }
  void lower(std::uint64_t instance = 1, Level level = Level::host) {
    act(EvictInstance{.invoker = InvokerId(0), .instance = InstanceId(instance), .level = level});
  }
  // A batch of the first stage with `rows` new requests, each with an input of one byte.
  struct Started {
    BatchId batch;
    std::vector<RequestId> requests;
  };
  Started start(std::uint32_t rows = 1, std::uint16_t vcpu = 1, std::uint64_t instance = 1) {
    std::vector<RequestId> requests;
    for (std::uint32_t r = 0; r < rows; ++r) requests.push_back(request());
    return {start_stage(StageId(0), requests, vcpu, instance), requests};
  }
  RequestId request() {
    const RequestId id(++next_request_);
    const data::Tensor x{.info = {"x", DataType::uint8, {1}}, .block = *arena_->allocate(1), .size = 1};
    objects_.open(id, std::make_shared<const data::Tensors>(data::Tensors{x}));
    return id;
  }
  // A batch of some stage of these requests. The run of a request has its number.
  BatchId start_stage(StageId stage, const std::vector<RequestId>& requests, std::uint16_t vcpu = 1,
                      std::uint64_t instance = 1, FunctionId function = FunctionId(0)) {
    StartBatch start{.id = BatchId(++next_batch_),
                     .invoker = InvokerId(0),
                     .instance = InstanceId(instance),
                     .application = ApplicationId(0),
                     .function = function,
                     .configuration = configuration(static_cast<std::uint16_t>(requests.size()), vcpu, 0),
                     .latest = Time::max()};
    for (const RequestId request : requests) {
      start.members.push_back(
          {.invocation = InvocationId(request.value()), .request = request, .run = request.value(), .stage = stage});
    }
    last_ = start;
    act(std::move(start));
    return BatchId(next_batch_);
  }
  // The last batch once more: a command may be delivered twice.
  void repeat() { act(last_); }
  void act(Action action) {
    Command command{.action = std::move(action)};
    agent_.act(command);
  }
  // Until something happens or the time comes.
  void wait(std::optional<Time> until = std::nullopt) {
    agent_.waker().listen(std::min(until.value_or(Time::max()), agent_.due()));
    if (agent_.due() <= data::now()) agent_.waker().ring();
    agent_.waker().wait();
    agent_.look();
  }
  // The next event of this kind; nothing: none for half a minute.
  template <class Kind>
  std::optional<Kind> next() {
    const Time until = data::now() + Duration::s(30);
    for (;;) {
      for (auto event = events_.begin(); event != events_.end(); ++event) {
        if (!std::holds_alternative<Kind>(*event)) continue;
        Kind out = std::get<Kind>(std::move(*event));
        events_.erase(event);
        return out;
      }
      if (data::now() > until) {
        ADD_FAILURE() << "it did not happen";
        return std::nullopt;
      }
      wait(until);
    }
  }
  // Whether an event of the first kind comes before one of the other.
  template <class Kind, class Other>
  bool next_of() {
    while (!happened<Kind>() && !happened<Other>()) wait();
    return happened<Kind>() && next<Kind>().has_value();
  }
  template <class Kind>
  [[nodiscard]] bool happened() const {
    return std::any_of(events_.begin(), events_.end(), [](const Event& e) { return std::holds_alternative<Kind>(e); });
  }
  // Requests are done: what they held goes.
  void forget() {
    for (std::uint64_t r = 1; r <= next_request_; ++r) objects_.release(RequestId(r));
  }
  [[nodiscard]] std::int64_t pid(std::uint64_t instance = 1) const {
    for (const invoker::WorkerStatus& worker : agent_.workers()) {
      if (worker.instance == InstanceId(instance)) return worker.pid;
    }
    return 0;
  }

 private:
  data::Arenas arenas_{{.all = Bytes::mb(64)}};
  std::shared_ptr<data::Arena> arena_;
  data::ObjectStore objects_;
  std::vector<Event> events_;
  std::vector<std::string> lines_, notes_;
  std::vector<bus::Sampled> samples_;
  StartBatch last_;
  std::uint64_t next_batch_ = 0, next_request_ = 0;
  invoker::Agent agent_;
};

}  // namespace sluice::invoker_test
