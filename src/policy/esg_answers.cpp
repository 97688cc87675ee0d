#include "policy/esg_answers.h"

#include <bit>

namespace sluice::policy {

// Times tell chains apart; equal hashes are compared whole.
std::size_t EsgAnswers::Mix::operator()(const Chain& chain) const {
  std::uint64_t out = chain.size();
  for (const plan::Candidates& candidates : chain) {
    for (const plan::Candidate& c : candidates)
      out = (std::rotl(out, 5) ^ std::bit_cast<std::uint64_t>(c.ms)) * 0x9E3779B97F4A7C15u;
  }
  return static_cast<std::size_t>(out ^ (out >> 32));
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
