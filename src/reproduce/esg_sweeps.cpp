#include "reproduce/esg_sweeps.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "plan/workflow_model.h"
#include "reproduce/azure_rows.h"
#include "reproduce/esg_assumptions.h"
#include "reproduce/esg_bounds.h"
#include "reproduce/esg_capacity.h"
#include "reproduce/esg_worlds.h"
#include "sim/rules.h"

namespace sluice::reproduce {
namespace {

constexpr std::array<std::string_view, 22> kSweeps{
    "capacity", "arrivals",   "noise",     "laws",      "layouts",  "transfer", "price",       "k",
    "group",    "containers", "orion",     "ablations", "ideas",    "bounds",   "assumptions", "tuning",
    "azure",    "azure-100",  "azure-500", "azure-llm", "a100-mig", kPage};

using Points = std::vector<Point>;

double rate_of(Load load) {
  const UniformGap gap = gap_of(load);
  return 2 / (gap.low + gap.high).to_s();
}

// The same mean rate, more and more irregular. The setting as it is, is no point of this sweep nor of the next three.
void arrivals(Setting setting, const Experiment& base, Points& out) {
  const double rate = rate_of(setting.load);
  const std::string name = name_of(setting);
  Experiment e = base;
  e.workload.arrivals = Poisson{rate};
  out.push_back(tuned_point(name + "/arrivals=poisson", e));
  const Duration phase = Duration::s(5);
  e.workload.arrivals = OnOff{.on_rate = 1.4 * rate, .off_rate = 0.6 * rate, .on = phase, .off = phase};
  out.push_back(tuned_point(name + "/arrivals=bursty", e));
}

// Both what is drawn and what profiles say; the last point leaves the profiles at 5 %.
void noise(Setting setting, const Experiment& base, Points& out) {
  for (const double sigma : {0.0, 0.02, 0.1, 0.2}) {
    Experiment e = base;
    e.noise = Noise{.sigma = sigma};
    believe_noise(e, sigma);
    out.push_back(tuned_point(str(name_of(setting), "/sigma=", sigma), e));
  }
  Experiment e = base;
  e.noise = Noise{.sigma = 0.1};
  out.push_back(tuned_point(str(name_of(setting), "/sigma=0.1,believed=0.05"), e));
}

void transfer(Setting setting, const Experiment& base, Points& out) {
  for (const double times : {0.0, 0.25, 4.0}) {
    Experiment e = base;
    e.transfer.remote_delay = e.transfer.remote_delay * times;
    e.transfer.remote_bytes_per_s = times > 0 ? e.transfer.remote_bytes_per_s / times : 1e18;
    out.push_back(tuned_point(str(name_of(setting), "/remote=", times), e));
  }
}

void price(Setting setting, const Experiment& base, Points& out) {
  for (const double ratio : {5.0, 2.0}) {
    Experiment e = base;
    e.prices = Prices{.vcpu_hour = 0.67 / ratio, .vgpu_hour = 0.67};
    out.push_back(tuned_point(str(name_of(setting), "/price-ratio=", ratio), e));
  }
}

void esg_parameter(Setting setting, const Experiment& base, const char* name, std::initializer_list<int> values,
                   Points& out) {
  for (const int value : values) {
    Contender esg = contender("esg");
    esg.parameters[name] = value;
    out.push_back({.setting = str(name_of(setting), "/", name, "=", value), .set_up = base, .contenders = {esg}});
  }
}

// Counted instances make a run several times as long, so that ESG is not tuned anew.
void containers(Setting setting, const Experiment& base, Points& out) {
  for (const InstanceMode instances : {InstanceMode::warm, InstanceMode::counted}) {
    Point p{.setting = name_of(setting) + (instances == InstanceMode::warm ? "/instances=warm" : "/instances=counted"),
            .set_up = base,
            .contenders = contenders(known_twins(setting))};
    p.set_up.instances = instances;
    out.push_back(std::move(p));
  }
}

// Objectives as they are, instead of scaled from the least configuration that is left.
void keep_objectives(Experiment& e) {
  for (Application& application : e.applications) {
    const auto profiles = plan::make_profiles(application);
    if (!profiles) continue;  // making the world says what is wrong
    const auto model = plan::make_model(application, *profiles);
    if (model) application.objective.latency = sim::objective_of(e, application, *model);
  }
  e.slo_scale.reset();
}

// Keeps the configurations that `keep` says yes to.
template <class Keep>
void narrow(Experiment& e, const Keep& keep) {
  keep_objectives(e);
  for (Application& application : e.applications) {
    for (Function& function : application.functions) {
      if (auto* model = std::get_if<ProfileModel>(&function.profile)) {
        std::erase_if(model->batch, [&](std::uint16_t b) { return !keep(Configuration{.batch = b, .slices = 7}); });
        std::erase_if(model->slices, [&](std::uint16_t s) { return !keep(Configuration{.batch = 1, .slices = s}); });
      } else if (auto* table = std::get_if<ProfileTable>(&function.profile)) {
        std::erase_if(table->rows, [&](const ProfileRow& row) { return !keep(row.configuration); });
      }
    }
  }
}

void ablations(Setting setting, const Experiment& base, Points& out) {
  out.push_back(tuned_point(name_of(setting) + "/ablation=none", base));
  Experiment single = base;
  narrow(single, [](const Configuration& c) { return c.batch == 1; });
  out.push_back(tuned_point(name_of(setting) + "/ablation=no-batching", single));
  Experiment whole = base;
  narrow(whole, [](const Configuration& c) { return c.slices == 7; });
  out.push_back(tuned_point(name_of(setting) + "/ablation=no-gpu-sharing", whole));
}

// `sluice` without each of its ideas, one at a time.
void ideas(Setting setting, const Experiment& base, Points& out) {
  Point p{.setting = name_of(setting), .set_up = base, .contenders = {contender("sluice")}};
  const auto without = [&](const char* name, std::map<std::string, double> parameters) {
    p.contenders.push_back({str("sluice/", name), "sluice", std::move(parameters)});
  };
  without("no-waiting", {{"wait", 0}});
  without("waiting-ignores-load", {{"wait_gain", 0}});
  without("waiting-ignores-gaps", {{"wait_gaps", 1e9}});
  without("no-locality", {{"locality", 0}});
  without("no-foresight", {{"foresee", 0}});
  without("no-load-reserve", {{"reserve_load_ms", 0}});
  without("no-reserve", {{"reserve_load_ms", 0}, {"reserve_ms", 0}});
  without("no-shedding", {{"shed", 0}});
  without("no-dropping", {{"drop", 0}});
  without("no-shedding-no-dropping", {{"shed", 0}, {"drop", 0}});
  without("always-roomiest", {{"roomiest_load", 1e9}});
  without("never-roomiest", {{"roomiest_load", 0}});
  without("no-learning", {{"learn", 0}});
  without("not-fair", {{"fair", 0}});
  p.contenders.push_back({"frontier", "frontier", {}});
  out.push_back(std::move(p));
}

// The headline settings and the one where load binds; of some sweeps all nine.
std::vector<Setting> settings_of(std::string_view sweep, const EsgOptions& options) {
  if (!options.settings.empty()) return options.settings;
  const bool all = sweep == "ideas" || sweep == "tuning" || sweep == "bounds";
  const std::span<const Setting> usual = all ? all_settings() : headline_settings();
  std::vector<Setting> out(usual.begin(), usual.end());
  if (!all) out.push_back({Slo::strict, Load::heavy});
  return out;
}

// Only the search for ESG's twins: what the table in esg_tuned.cpp is made with.
void tuning(Setting setting, const Experiment& base, Points& out) {
  out.push_back({.setting = name_of(setting), .set_up = base, .contenders = {}, .tuning = Tuning::whole});
}

void append(Points more, Points& out) {
  std::move(more.begin(), more.end(), std::back_inserter(out));
}

Points points_of(std::string_view sweep, const EsgOptions& options, const Experiment& evaluation) {
  Points out;
  if (sweep == "orion") return orion_points(evaluation);
  if (sweep == "assumptions") return assumption_points(evaluation);
  for (const Setting setting : settings_of(sweep, options)) {
    const Experiment base = with_setting(evaluation, setting);
    if (sweep == "laws") append(law_points(setting, base), out);
    if (sweep == "layouts") append(layout_points(setting, base), out);
    if (sweep == "tuning") tuning(setting, base, out);
    if (sweep == "arrivals") arrivals(setting, base, out);
    if (sweep == "noise") noise(setting, base, out);
    if (sweep == "transfer") transfer(setting, base, out);
    if (sweep == "price") price(setting, base, out);
    if (sweep == "k") esg_parameter(setting, base, "k", {1, 2, 5, 10, 20}, out);
    if (sweep == "group") esg_parameter(setting, base, "group", {1, 2, 3, 4, 5}, out);
    if (sweep == "containers") containers(setting, base, out);
    if (sweep == "ideas") ideas(setting, base, out);
    if (sweep == "ablations") ablations(setting, base, out);
  }
  return out;
}

Result<std::vector<Row>> play_sweep(const std::string& sweep, const EsgOptions& options, const Experiment& evaluation,
                                    const Length& length, Player& player) {
  if (sweep == "capacity") return play_capacity(options, evaluation, length, player);
  if (sweep == "bounds") return play_bounds(settings_of(sweep, options), evaluation, length, player);
  if (is_azure_sweep(sweep)) {
    const auto data = read_azure_data(options.data);
    if (!data) return data.error();
    return azure_rows(sweep, *data, evaluation, length.streams, player);
  }
  const auto played = play_points(player, sweep, points_of(sweep, options, evaluation), length.streams);
  if (!played) return played.error();
  if (sweep == "assumptions") return assumption_rows(*played);
  std::vector<Row> out;
  for (const PlayedPoint& p : *played) {
    const std::vector<Row> rows = rows_of(sweep, p);
    out.insert(out.end(), rows.begin(), rows.end());
  }
  return out;
}

}  // namespace

std::span<const std::string_view> sweep_names() {
  return kSweeps;
}

std::vector<Point> orion_points(const Experiment& evaluation) {
  Points out;
  const Setting setting{Slo::strict, Load::light};
  for (const SchedulerTime time : {SchedulerTime::native, SchedulerTime::paper}) {
    for (const int states : {50, 500, 5'000, 50'000}) {
      Contender orion = contender("orion");
      orion.parameters["states"] = states;
      Experiment e = with_setting(evaluation, setting);
      e.scheduler_time = time;
      out.push_back({.setting = str(name_of(setting), "/states=", states,
                                    time == SchedulerTime::paper ? ",time=paper" : ",time=native"),
                     .set_up = std::move(e),
                     .contenders = {std::move(orion)}});
    }
  }
  for (const Setting headline : headline_settings()) {
    Contender orion = contender("orion");
    orion.parameters["cap"] = 0;
    out.push_back({.setting = name_of(headline) + "/batches=uncapped",
                   .set_up = with_setting(evaluation, headline),
                   .contenders = {std::move(orion)}});
  }
  return out;
}

std::vector<std::string> page_sweeps() {
  return {"ideas",    "arrivals",   "noise", "laws",  "layouts", "transfer",   "price",
          "capacity", "containers", "k",     "group", "bounds",  "assumptions"};
}

Status check_sweeps(const std::vector<std::string>& sweeps) {
  for (const std::string& sweep : sweeps) {
    if (sweep == kPage) return Error{ErrorCode::invalid, "the sweep 'page' has all others of its page: write it alone"};
    if (std::find(kSweeps.begin(), kSweeps.end(), sweep) != kSweeps.end()) continue;
    const auto near = nearest(sweep, kSweeps);
    return Error{ErrorCode::not_found,
                 str("there is no sweep '", sweep, "'.", near ? str(" Did you mean '", *near, "'?") : "")};
  }
  return Done{};
}

std::uint64_t work_of_sweeps(const EsgOptions& options, const Experiment& evaluation, const Length& length) {
  std::uint64_t out = 0;
  for (const std::string& sweep : options.sweeps) {
    if (is_azure_sweep(sweep)) continue;
    if (sweep == "capacity") {
      out += work_of_capacity(options, evaluation, length);
    } else if (sweep == "bounds") {
      out += settings_of(sweep, options).size() * contenders({}).size() * length.played();
    } else {
      out += work_of(points_of(sweep, options, evaluation), length);
    }
  }
  return out;
}

Result<std::vector<Row>> play_sweeps(const EsgOptions& options, const Experiment& evaluation, const Length& length,
                                     Player& player) {
  std::vector<Row> out;
  for (const std::string& sweep : options.sweeps) {
    const auto rows = play_sweep(sweep, options, evaluation, length, player);
    if (!rows) return rows.error();
    out.insert(out.end(), rows->begin(), rows->end());
  }
  return out;
}

}  // namespace sluice::reproduce
