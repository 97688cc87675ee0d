// Backlog: accepted asynchronous requests that wait on disk, as ids by application, the oldest first. A plain value;
// Journal guards it, and decides when one may be let in.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "domain/ids.h"

namespace sluice::live {

class Backlog {
 public:
  struct Waiting {
    std::string application;
    RequestId id;
    std::uint64_t turn = 0;  // lower ones came before
  };

  [[nodiscard]] std::uint64_t next_turn() { return next_turn_++; }
  void add(const std::string& application, RequestId id);
  // One that was taken, or that has a turn of its own, in its place; nothing of its application is taken before
  // `not_before`.
  void put_back(const Waiting& waiting, Time not_before);
  // Applications take turns. Nothing: none that is ready waits, or it is too early for those.
  [[nodiscard]] std::optional<Waiting> take(Time now);
  // When take() has something next.
  [[nodiscard]] std::optional<Time> due() const;
  [[nodiscard]] bool remove(RequestId id);                                      // false: it does not wait
  [[nodiscard]] std::optional<std::string> application_of(RequestId id) const;  // nothing: it does not wait

  // Requests of an application that is not ready are kept and not taken.
  void set_ready(const std::string& application, bool ready);
  [[nodiscard]] std::vector<RequestId> remove_all(const std::string& application);
  [[nodiscard]] std::vector<std::string> applications() const;  // of which some wait, by name

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t size_of(const std::string& application) const;

 private:
  struct Place {
    RequestId id;
    std::uint64_t turn = 0;
  };
  struct Queue {
    std::deque<Place> places;  // by turn
    bool ready = false;
    Time not_before;
  };
  std::map<std::string, Queue> queues_;  // those with places
  std::string last_;                     // application that was taken from
  std::uint64_t next_turn_ = 1;
  std::size_t size_ = 0;
};

}  // namespace sluice::live
