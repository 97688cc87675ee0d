// Player: plays trials of ESG's evaluation, many at once if its executor can. It owns no thread, clock or file: those
// who call lend them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reproduce/esg_figures.h"
#include "reproduce/esg_settings.h"
#include "sim/prepare.h"

namespace sluice::reproduce {

// One run to make.
struct Trial {
  std::string experiment, setting;  // as in the rows
  std::string contender;            // as in the rows: "esg-tuned"
  std::string scheduler;            // of the catalog: "esg"
  std::shared_ptr<const Experiment> set_up;
  std::uint64_t seed = 1;
  std::shared_ptr<const std::string> trace_text{};  // of the trace that the set-up plays; null: it plays none
  bool begins_empty = false;                        // counted instances: nothing is loaded at the start
};

// What is lent. All but `run` may be left out. `done`, `log` and the observers it makes are used from several threads.
struct Means {
  // Calls its argument with 0 … count - 1, in any order, at once or not; returns when all are done.
  std::function<void(std::size_t count, const std::function<void(std::size_t)>& task)> run;
  std::size_t at_once = 1;                               // how many of its calls are under way at a time; ≥ 1
  std::function<void(std::uint64_t work)> expect, done;  // in requests, or what takes as long as one
  std::function<std::unique_ptr<sim::Observer>(const Trial&)> log;
  std::function<double(const std::function<void()>& work)> time_us;  // how long something took
};

// Runs one after the other in this thread.
[[nodiscard]] Means plain_means();

class Player {
 public:
  // `aquatope`: its parameters. Presets are made once for every application, objective and price. Runs of `esg` know
  // what ESG_1Q answered in the runs before: no figure depends on it, only the time that playing takes.
  Player(Means means, std::map<std::string, double> aquatope)
      : means_(std::move(means)), aquatope_(std::move(aquatope)) {}
  // Figures in the order of the trials. An error if an experiment cannot run or a run breaks an invariant.
  [[nodiscard]] Result<std::vector<Figures>> play(const std::vector<Trial>& trials);
  // The same, each with an observer of its own; may be null.
  [[nodiscard]] Result<std::vector<Figures>> play(const std::vector<Trial>& trials,
                                                  const std::vector<sim::Observer*>& observers);
  [[nodiscard]] const Means& means() const { return means_; }
  // What was expected of something adaptive and what it took: makes up for the difference.
  void settle(std::uint64_t expected, std::uint64_t took) const {
    if (took < expected) done(expected - took);
    if (took > expected && means_.expect) means_.expect(took - expected);
  }

 private:
  struct Presets {
    std::shared_ptr<const Experiment> set_up;
    std::shared_ptr<const policy::AquatopePresets> made;
  };
  [[nodiscard]] Status prepare(const std::vector<Trial>& trials);
  [[nodiscard]] const Presets* presets_of(const Experiment& set_up) const;
  [[nodiscard]] Result<Figures> play_one(const Trial& trial, sim::Observer* observer,
                                         std::shared_ptr<policy::EsgAnswers> found) const;
  void done(std::uint64_t work) const {
    if (means_.done) means_.done(work);
  }

  Means means_;
  std::map<std::string, double> aquatope_;
  std::vector<Presets> presets_;
  // What ESG_1Q answered in earlier runs of `esg`. Written only while nothing runs.
  std::shared_ptr<policy::EsgAnswers> answers_ = std::make_shared<policy::EsgAnswers>();
};

}  // namespace sluice::reproduce
