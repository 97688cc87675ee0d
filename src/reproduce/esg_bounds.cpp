#include "reproduce/esg_bounds.h"

#include <memory>

#include "base/text.h"
#include "reproduce/bounds/bounds.h"
#include "reproduce/bounds/together.h"

namespace sluice::reproduce {
namespace {

// How every request ended, and what was billed.
class Ends final : public sim::Observer {
 public:
  explicit Ends(std::size_t requests) : outcomes_(requests) {}
  void request(const sim::RequestRow& row) override {
    Outcome& outcome = outcomes_[row.id.value()];
    outcome.met = row.ending == sim::Ending::met;
    outcome.billed = row.measured && row.cost > PicoDollars{};
    if (outcome.billed) paid_ += row.cost;
  }
  void action(const sim::ActionRow& row) override {
    for (const BatchMember& member : row.members) outcomes_[member.request.value()].ran = true;
  }
  [[nodiscard]] const std::vector<Outcome>& outcomes() const { return outcomes_; }
  [[nodiscard]] Dollars paid() const { return paid_.to_dollars(); }

 private:
  std::vector<Outcome> outcomes_;
  PicoDollars paid_;
};

void add(std::vector<Row>& rows, const std::string& setting, std::string scheduler, std::string metric, double ours) {
  Row row{"bounds", setting, std::move(scheduler), std::move(metric)};
  row.ours = ours;
  rows.push_back(std::move(row));
}

// Of the offered requests, whoever schedules. The dollars of "together" per request.
double add_offered(std::vector<Row>& rows, const std::string& setting, const Offered& offered) {
  const HitBound hits = most_hits(offered);
  const Together both = together(offered, kMissPrice);
  const auto requests = static_cast<double>(both.requests);
  add(rows, setting, "bound", "most_hits", static_cast<double>(hits.hits) / static_cast<double>(hits.requests));
  add(rows, setting, "bound", "least_vgpu_share", hits.slice_share);
  add(rows, setting, "together", "planned_per_request", both.planned / requests);
  add(rows, setting, "together", "cost_with_misses", both.expected / requests);
  return both.expected / requests;
}

struct Watched {
  std::string setting;
  double together = 0;  // dollars per request
  const Offered* offered = nullptr;
  std::unique_ptr<Ends> ends;
};

}  // namespace

Result<std::vector<Row>> play_bounds(const std::vector<Setting>& settings, const Experiment& evaluation,
                                     const Length& length, Player& player) {
  std::vector<Row> rows;
  std::vector<std::unique_ptr<Offered>> offered;
  std::vector<Trial> trials;
  std::vector<Watched> watched;
  std::vector<sim::Observer*> observers;
  for (const Setting s : settings) {
    const std::string setting = name_of(s);
    const Experiment set_up = with_setting(evaluation, s);
    auto made = make_offered(set_up, 1);
    if (!made) return made.error();
    offered.push_back(std::make_unique<Offered>(std::move(made).value()));
    const double least = add_offered(rows, setting, *offered.back());
    for (const Contender& c : contenders(known_twins(s))) {
      trials.push_back(trials_of("bounds", setting, c, set_up, 1).front());
      watched.push_back({setting, least, offered.back().get(), std::make_unique<Ends>(length.played())});
      observers.push_back(watched.back().ends.get());
    }
  }
  const auto figures = player.play(trials, observers);
  if (!figures) return figures.error();
  std::vector<double> bound(trials.size());
  player.means().run(trials.size(),
                     [&](std::size_t i) { bound[i] = least_cost(*watched[i].offered, watched[i].ends->outcomes()); });
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Figures& f = (*figures)[i];
    const Watched& w = watched[i];
    const double with_misses = f.cost_per_request + kMissPrice * (1 - f.hit_rate);
    add(rows, w.setting, trials[i].contender, "slo_hit_rate", f.hit_rate);
    add(rows, w.setting, trials[i].contender, "cost_per_request", f.cost_per_request);
    add(rows, w.setting, trials[i].contender, "cost_with_misses", with_misses);
    add(rows, w.setting, trials[i].contender, "cost_with_misses_over_together", with_misses / w.together);
    if (bound[i] > 0) add(rows, w.setting, trials[i].contender, "cost_over_least", w.ends->paid() / bound[i]);
  }
  return rows;
}

}  // namespace sluice::reproduce
