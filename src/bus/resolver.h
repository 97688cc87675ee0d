// Resolver: a piece of work that reads objects by data::Values, done with what other machines hold. The work is tried;
// what it missed is asked for where it may be, put into this machine's store, and the work is tried again, until it
// misses nothing that could still come. Used by the agent for inputs, conditions and lists, and by gateways for
// outputs.
//
// Conditions compare what stages leave that run side by side on several machines, and whichever ends last has to know
// of all the others. Two things see to that: of two members of a request the one that started later names the other's
// machine (BatchMember::places), and a machine that is asked by another one asks back whatever it still misses
// (Objects::askers). A question is only asked again of a place that holds more than when it answered last, so it ends.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "bus/objects.h"
#include "data/object_store.h"
#include "data/values.h"

namespace sluice::bus {

class Resolver {
 public:
  // Places that may hold what the work still missed when nothing more could come.
  struct Missed {
    std::set<InvokerId> silent;     // did not answer
    std::set<InvokerId> unknowing;  // know nothing of the request
    [[nodiscard]] bool any() const { return !silent.empty() || !unknowing.empty(); }
  };
  struct Work {
    RequestId request;
    std::vector<InvokerId> places;  // other machines; the request's inputs are asked for at its gateway
    std::shared_ptr<data::Arena> arena;
    std::function<void(data::Missing&)> attempt;  // may be called often
    std::function<void(const Missed&)> done;
  };
  // Work that waits for objects; nothing of it is called once this is gone.
  class Ticket {
   public:
    Ticket(Resolver& resolver, std::uint64_t number) : resolver_(&resolver), number_(number) {}
    Ticket(Ticket&& other) noexcept
        : resolver_(std::exchange(other.resolver_, nullptr)), number_(std::exchange(other.number_, 0)) {}
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(resolver_, other.resolver_);
      std::swap(number_, other.number_);
      return *this;
    }
    ~Ticket() {
      if (resolver_ != nullptr) resolver_->give_up(number_);
    }

   private:
    Resolver* resolver_;
    std::uint64_t number_;
  };

  // Both must outlive it.
  Resolver(Objects& others, data::ObjectStore& store) : others_(others), store_(store) {}
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Attempts the work at once. Nothing: it has all that there is, and done() is not called; else done() is called
  // later.
  [[nodiscard]] std::optional<Ticket> resolve(Work work);

 private:
  using Question = std::pair<data::ObjectKey, InvokerId>;
  struct Job {
    Work work;
    data::Missing missing;          // by the last attempt
    std::map<Question, Said> said;  // silent until it is answered
    std::set<data::ObjectKey> got;
    std::map<data::ObjectKey, std::uint64_t> under_way;  // fetches
  };
  [[nodiscard]] bool ask(std::uint64_t number, Job& job);
  [[nodiscard]] std::vector<InvokerId> ask_of(Job& job, const data::ObjectKey& key) const;
  void fetched(std::uint64_t number, const data::ObjectKey& key, Fetched answer);
  [[nodiscard]] static Missed missed(const Job& job);
  void give_up(std::uint64_t number);

  Objects& others_;
  data::ObjectStore& store_;
  std::map<std::uint64_t, Job> jobs_;
  std::uint64_t next_ = 0;
};

}  // namespace sluice::bus
