// Company: who could be in a batch with whom, and how lucky that batch could be. A relaxation over all schedulers, made
// for one outcome of a run; the bounds ask it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "reproduce/bounds/offered.h"

namespace sluice::reproduce {

// What a request does in the relaxation.
struct Role {
  bool present = false;   // may be in batches at all
  bool shares = false;    // counts as a member that a batch's cost is shared with
  bool in_time = false;   // is met: it has run its earlier stages and leaves time for the later ones
  bool may_fail = false;  // may also be in batches without being met; then it shares nothing
};

class Company {
 public:
  Company(const Offered& offered, std::vector<Role> roles);

  // The luck of a batch of one, and the least of any larger batch the request can be in at this stage.
  [[nodiscard]] double own_luck(std::size_t request, std::size_t stage) const { return own_[at(request, stage)]; }
  [[nodiscard]] double best_luck(std::size_t request, std::size_t stage) const { return best_[at(request, stage)]; }
  // Whether batches may have members that share nothing.
  [[nodiscard]] bool has_silent_members() const { return silent_; }
  // The longest that `members` sharing ones, the request among them, could stay together at this stage, by members - 1;
  // falling, below 0 where they never meet. The span is valid until the next call. REQUIRES: the request is in time.
  [[nodiscard]] std::span<const double> together_ms(std::size_t request, std::size_t stage);

 private:
  struct Entry {
    double from = 0, until = 0;  // when it could run this stage
    double luck = 1;
    std::uint32_t request = 0;
    bool shares = false, in_time = false, may_fail = false;
  };
  struct Meeting {                   // of one function
    std::vector<Entry> entries;      // by `from`
    std::vector<double> latest;      // per entry: the latest `until` of those that share up to it, descending
    std::vector<double> waits_luck;  // per entry: the least luck of those up to it that wait forever
    double window_ms = 0;            // the longest of those in time
    double fastest_ms = 0;           // of a batch of two
    std::size_t width = 0;           // of a row of `latest`
  };
  [[nodiscard]] std::size_t at(std::size_t request, std::size_t stage) const { return first_[request] + stage; }
  [[nodiscard]] double least_ms(std::size_t request, std::size_t stage) const;
  void meet();
  void add_entries(std::size_t request);
  void find_best_luck(std::size_t function);
  void rank(Meeting& meeting) const;

  const Offered& offered_;
  std::vector<Role> roles_;
  bool silent_ = false;
  std::vector<std::size_t> first_;  // of a request's stages in what follows
  std::vector<double> own_, best_;  // luck
  std::vector<double> from_, until_;
  std::vector<Meeting> meetings_;  // by function
  std::vector<double> together_;
};

}  // namespace sluice::reproduce
