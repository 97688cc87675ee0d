#include "policy/esg_answers.h"

#include <algorithm>
#include <tuple>

namespace sluice::policy {

bool EsgAnswers::Before::operator()(const Chain& a, const Chain& b) const {
  const auto key = [](const plan::Candidate& c) { return std::tie(c.ms, c.cost, c.configuration); };
  const auto stage_before = [&](const plan::Candidates& x, const plan::Candidates& y) {
    return std::ranges::lexicographical_compare(x, y, {}, key, key);
  };
  return std::ranges::lexicographical_compare(a, b, stage_before);
}

const EsgAnswers::Shelf* EsgAnswers::find(const Chain& chain, const EsgTerms& terms) const {
  const auto shelves = shelves_.find(chain);
  if (shelves == shelves_.end()) return nullptr;
  const auto shelf = shelves->second.find(terms);
  return shelf == shelves->second.end() ? nullptr : &shelf->second;
}

void EsgAnswers::put(Shelf& shelf, std::int64_t budget_ms, const EsgAnswer& answer) {
  if (size_ < answers_max_ && shelf.try_emplace(budget_ms, answer).second) ++size_;
}

void EsgAnswers::add(const EsgAnswers& other) {
  for (const auto& [chain, shelves] : other.shelves_) {
    for (const auto& [terms, answers] : shelves) {
      Shelf& own = shelf(chain, terms);
      for (const auto& [budget_ms, answer] : answers) put(own, budget_ms, answer);
    }
  }
}

}  // namespace sluice::policy
