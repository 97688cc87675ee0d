// ObjectExchange: a machine's end of the talk about objects: asks other machines for theirs and serves its own. One
// each machine and gateway, over one Transport to every other. A question is asked again until it is answered; a place
// that says nothing for too long is silent. Objects travel in parts, so that a large one neither blocks nor needs a
// large frame. How many are under way, and their bytes, are bounded: the rest wait. One thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "bus/frame.h"
#include "bus/object_frame.h"
#include "bus/objects.h"
#include "data/tensor_blob.h"

namespace sluice::bus {

class ObjectExchange final : public Objects {
 public:
  struct Options {
    std::vector<InvokerId> here;  // the invokers of this machine; empty: a gateway
    std::uint64_t epoch = 1;      // grows with every start, so that late answers are not mistaken
    Duration retry = Duration::ms(50);
    Duration silent_after = Duration::s(2);
    std::uint32_t unknowing_times = 3;     // that a place says so before it is believed: it may be told a moment later
    std::size_t fetches_max = 64;          // under way at once
    std::size_t waiting_max = 100'000;     // further ones; beyond that they find nobody
    std::uint64_t bytes_max = 256u << 20;  // of objects that are arriving; a larger one does not come
    std::size_t first_bytes = 64u << 10;   // that every place sends at once; only one of them sends the rest
    std::size_t part_bytes = 4u << 20;     // at a time
    std::size_t requests_asked_max = 65'536;  // whose askers are remembered
    std::size_t copies_max = 64;              // of large objects that others are fetching
  };
  struct Counters {
    std::uint64_t asked = 0, served = 0, bytes_in = 0, bytes_out = 0,
                  refused = 0;  // refused: frames that make no sense
  };
  // What it serves; it must outlive this.
  ObjectExchange(const data::ObjectStore& store, Options options);

  // Frames to a place, and from there, go over this transport, which must outlive it; several places may share one.
  // InvokerId::none(): the gateway.
  void connect(InvokerId place, Transport& transport);
  // Reads what arrived, answers, asks again, and tells what was fetched. `now` never goes back.
  void work(Time now);
  // When to call work() even if nothing arrives.
  [[nodiscard]] Time due() const;
  [[nodiscard]] const Counters& counters() const { return counters_; }

  std::uint64_t fetch(const ObjectName& name, std::span<const InvokerId> places, std::shared_ptr<data::Arena> arena,
                      OnFetched told) override;
  void give_up(std::uint64_t fetch) override;
  [[nodiscard]] bool is_here(InvokerId place) const override;
  [[nodiscard]] std::span<const Asker> askers(RequestId request) const override;
  void forget(RequestId request) override;

 private:
  struct Question {  // to one place
    enum class State : std::uint8_t { asked, has, silent, unknowing, absent };
    InvokerId place;
    std::uint64_t number = 0;
    State state = State::asked;
    std::uint64_t held = 0;
    std::uint32_t unknowing = 0;  // how often it said so
  };
  struct Fetch {
    std::uint64_t number = 0;
    ObjectName name;
    std::shared_ptr<data::Arena> arena;
    OnFetched told;
    std::vector<Question> questions;
    std::optional<std::size_t> sender;  // of the questions: whose parts arrive
    std::uint64_t copy = 0, total = 0;
    std::string blob;  // what of it has arrived
    data::SharedTensors tensors;
    bool over = false;
    std::optional<Time> heard_at, sent_at;  // none: not looked at since it began
  };
  struct Copy {  // of a large object, so that all parts are of the same one
    std::uint64_t number = 0;
    RequestId request;
    data::BlobParts parts;
  };
  struct Asked {
    std::vector<Asker> askers;
    std::uint64_t order = 0;
  };

  [[nodiscard]] Transport* route(InvokerId place) const;
  void read(Transport& from, const std::string& bytes);
  // Serving.
  void serve(Transport& to, const Ask& ask);
  void note_asker(const Ask& ask);
  [[nodiscard]] Answer answer_to(const Ask& ask);
  [[nodiscard]] std::uint64_t keep(RequestId request, const data::BlobParts& parts);
  static void send_part(const data::BlobParts& parts, const Ask& ask, Answer& out);
  // Fetching.
  void begin_waiting();
  void begin(Fetch& fetch);
  void send(const Fetch& fetch, const Question& question);
  void hear(const Transport& transport, const Answer& answer);
  void take_part(Fetch& fetch, std::size_t from, const Answer& answer);
  void arrived(Fetch& fetch);
  void drop_sender(Fetch& fetch, Question::State state);
  void look_for_sender(Fetch& fetch);
  void end(Fetch& fetch);
  void look_at_clock(Fetch& fetch, Time now);
  void tell();

  const data::ObjectStore& store_;
  Options options_;
  Counters counters_;
  std::map<InvokerId, Transport*> routes_;
  std::vector<Transport*> transports_;
  std::map<std::uint64_t, Fetch> fetches_;                                    // by number
  std::map<std::uint64_t, std::pair<std::uint64_t, std::size_t>> questions_;  // by number: fetch, which of its places
  std::set<std::uint64_t> under_way_;                                         // fetches
  std::deque<std::uint64_t> waiting_;  // likewise, oldest first; some may have been given up
  std::vector<std::uint64_t> over_;    // likewise: to be told
  std::uint64_t arriving_ = 0;         // bytes of objects that are
  std::map<RequestId, Asked> asked_;
  std::map<std::uint64_t, RequestId> asked_order_;  // the oldest first
  std::deque<Copy> copies_;                         // the one that was used last at the end
  std::uint64_t next_fetch_ = 0, next_question_ = 0, next_copy_ = 0, next_asked_ = 0;
};

}  // namespace sluice::bus
