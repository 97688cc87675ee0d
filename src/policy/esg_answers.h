// EsgAnswers: what ESG_1Q has answered, to be asked again by other runs. An answer and the count of its work are a
// function of the question alone, and questions are compared whole: a run that knows answers from before
// decides and is charged as one that knows none. Many threads may read one that nobody writes.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "plan/candidate.h"

namespace sluice::policy {

// The first configurations of the K best paths, cheapest path first, and what finding them took.
struct EsgAnswer {
  std::vector<Configuration> firsts;
  std::uint64_t expansions = 0;
  friend bool operator==(const EsgAnswer&, const EsgAnswer&) = default;
};

// What is asked of a chain of stages, but for the budget.
struct EsgTerms {
  plan::BatchCap cap = 0;
  std::size_t k = 5;
  bool distinct_first = false;
  friend auto operator<=>(const EsgTerms&, const EsgTerms&) = default;
};

class EsgAnswers {
 public:
  using Chain = std::vector<plan::Candidates>;      // by stage, all that there are: the cap leaves some out
  using Shelf = std::map<std::int64_t, EsgAnswer>;  // by budget in whole milliseconds

  // An answer of ten configurations takes some 250 bytes, so that a full one takes half a gigabyte.
  explicit EsgAnswers(std::size_t answers_max = 2'000'000) : answers_max_(answers_max) {}

  // All answers on these terms; null: none. Stays valid as long as this.
  [[nodiscard]] const Shelf* find(const Chain& chain, const EsgTerms& terms) const;
  // The same to put answers on.
  [[nodiscard]] Shelf& shelf(const Chain& chain, const EsgTerms& terms) { return shelves_[chain][terms]; }
  // Keeps an answer on one of its shelves, unless it is full.
  void put(Shelf& shelf, std::int64_t budget_ms, const EsgAnswer& answer);
  // Takes over what is not known, as far as there is room.
  void add(const EsgAnswers& other);
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Before {  // some order
    bool operator()(const Chain& a, const Chain& b) const;
  };
  std::size_t answers_max_, size_ = 0;
  std::map<Chain, std::map<EsgTerms, Shelf>, Before> shelves_;
};

// What a run is given to know, and where it leaves what it had to search for. Either may be null.
struct EsgLibrary {
  std::shared_ptr<const EsgAnswers> known;
  std::shared_ptr<EsgAnswers> found;  // of one run only
};

}  // namespace sluice::policy
