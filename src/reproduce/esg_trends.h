// What ESG's paper says about its results, and what we say about ours, as rules over measured figures. A rule whose
// figures are not there gives no row.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reproduce/esg_figures.h"
#include "reproduce/row.h"

namespace sluice::reproduce {

// Means over streams, by setting and contender.
class FigureTable {
 public:
  void put(const std::string& setting, const std::string& contender, Figures figures) {
    table_[{setting, contender}] = std::move(figures);
  }
  [[nodiscard]] const Figures* find(std::string_view setting, std::string_view contender) const {
    const auto it = table_.find({std::string(setting), std::string(contender)});
    return it == table_.end() ? nullptr : &it->second;
  }

 private:
  std::map<std::pair<std::string, std::string>, Figures> table_;
};

// The paper's claims: who has most hits and by how much, what the baselines cost, ESG's latency just below the
// objective, delays that spread in the longest application, miss rates of plans made ahead, search overhead.
[[nodiscard]] std::vector<Row> paper_trends(const FigureTable& table);
// Ours, in every setting that is there: hits within 0.1 point of the best other, dollars per met request below
// everybody within a point of the hits, no application sacrificed.
[[nodiscard]] std::vector<Row> our_claims(const FigureTable& table);

}  // namespace sluice::reproduce
