// Session: the server's side of the conversation with one worker process: what it was told to load and to run, what it
// may write, and whether what it says is an answer to that. A worker may be broken or hostile: the first word out of
// turn is reported, and the session is to be ended. Used by Agent and the profiler.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "data/arena.h"
#include "domain/function.h"
#include "invoker/spawner.h"
#include "wire/messages.h"

namespace sluice::invoker {

class Session {
 public:
  struct Options {
    std::uint32_t lanes = 1;  // batches at once
    // On a GPU: how it is shared, and in how many slices; 0: the worker runs on CPUs. The arena is pinned then.
    GpuMode mode = GpuMode::green;
    std::uint32_t slices = 0;
    // Pages of granted space that nobody has touched yet are touched here, so that they do not count as the worker's
    // where its memory is limited.
    bool own_pages = false;
  };
  // What a worker said.
  struct Nothing {};  // nothing, or what the session has dealt with
  struct Closed {};   // it has ended, or closed its socket
  struct Broken {     // it does not keep to the protocol
    std::string why;  // what it did: "wrote rubbish"
  };
  struct Answer {
    wire::Ran ran;
    data::Block space;  // where its outputs have to be
  };
  using Heard = std::variant<Nothing, Closed, Broken, wire::Loaded, wire::Unloaded, wire::Moved, wire::Fetched, Answer>;

  Session(WorkerProcess process, std::shared_ptr<data::Arena> arena, Options options);

  // Errors of these: the worker cannot be told, too_large: the message has too many parts and was not sent.
  [[nodiscard]] Status hello();
  // `number` names the function from now on; `form`: that it is to have on a GPU, in place of its body's. REQUIRES: it
  // is free.
  [[nodiscard]] Status load(std::uint32_t number, const Function& function, const Body& body, GpuForm form = {});
  [[nodiscard]] bool is_loading(std::uint32_t number) const;
  // Takes it off its GPU, or puts it back there. REQUIRES: it is loaded, on a GPU, and no batch of it is under way.
  [[nodiscard]] Status move(std::uint32_t number, Level level);
  // REQUIRES: it is loaded.
  [[nodiscard]] Status unload(std::uint32_t number);
  // `run.outputs` is set to `space`; `held` are its inputs. Both stay until it is answered, or the session goes.
  [[nodiscard]] Status run(wire::Run run, data::Block space, std::vector<data::Block> held);
  [[nodiscard]] Status cancel(std::uint64_t batch);
  // What it keeps, by where that begins. `space` stays until the fetch is answered, or the session goes: it is written.
  [[nodiscard]] Status fetch(std::uint64_t offset, data::Block space);
  [[nodiscard]] Status release(std::uint64_t offset);

  // It was heard to be closed, and nothing is told or heard any more.
  void close() { process_.channel = wire::Channel(wire::Descriptor()); }
  // Whether its end of the socket is closed: then telling it anything failed because of that, and hear() will say so.
  [[nodiscard]] bool hung_up() const;

  // The next thing it said. Does not wait.
  [[nodiscard]] Heard hear();
  // Keeps space until the session goes: of an answer that made no sense.
  void retain(data::Block space) { retained_.push_back(std::move(space)); }
  // Space that its process may write.
  [[nodiscard]] std::optional<data::Block> space_of(std::size_t bytes) const;

  [[nodiscard]] const WorkerProcess& process() const { return process_; }
  [[nodiscard]] WorkerProcess& process() { return process_; }
  [[nodiscard]] data::Arena& arena() const { return *arena_; }

 private:
  enum class State { loading, loaded, moving, unloading };
  struct Asked {
    std::uint64_t batch = 0;
    bool cancelled = false;
    bool keep = false;
    data::Block space;
    std::vector<data::Block> held;
  };
  [[nodiscard]] Status tell(const wire::ToWorker& message, const std::vector<int>& descriptors = {});
  [[nodiscard]] std::vector<Asked>::iterator asked(std::uint64_t batch);
  [[nodiscard]] Heard on(wire::Loaded& loaded);
  [[nodiscard]] Heard on(wire::Unloaded& unloaded);
  [[nodiscard]] Heard on(wire::Moved& moved);
  [[nodiscard]] Heard on(wire::Ran& ran);
  [[nodiscard]] Heard on(wire::Wanted& wanted);
  [[nodiscard]] Heard on(wire::Fetched& fetched);

  WorkerProcess process_;
  std::shared_ptr<data::Arena> arena_;
  Options options_;
  std::map<std::uint32_t, State> functions_;
  std::vector<Asked> asked_;                       // and not answered
  std::map<std::uint64_t, data::Block> fetching_;  // by offset
  std::vector<data::Block> retained_;
  std::string bytes_;  // of the message at hand
};

}  // namespace sluice::invoker
