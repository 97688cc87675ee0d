#include "policy/scarcity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "profile/transfer.h"

namespace sluice::policy {
namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();
// Calls are counted over some objectives, but not over so little that a few requests make a rate.
constexpr double kObjectives = 4, kLeastMs = 100;

double over_ms(const ApplicationModel& model) {
  return std::max(kLeastMs, kObjectives * model.application->objective.latency.to_ms());
}

}  // namespace

FillTable::FillTable(const std::vector<double>& lengths_ms) {
  constexpr double kCellsOfShortest = 8, kCellsMax = 1024, kLongest = 4;
  double shortest = kImpossible, longest = 0;
  for (const double ms : lengths_ms) {
    if (ms <= 0) continue;
    shortest = std::min(shortest, ms);
    longest = std::max(longest, ms);
  }
  if (longest == 0) return;
  cell_ms_ = std::max(shortest / kCellsOfShortest, kLongest * longest / kCellsMax);
  std::vector<std::uint32_t> lengths;
  for (const double ms : lengths_ms) {
    if (ms > 0) lengths.push_back(static_cast<std::uint32_t>(std::ceil(ms / cell_ms_ - 1e-6)));
  }
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  filled_.assign(static_cast<std::size_t>(kLongest * longest / cell_ms_) + 1, 0);
  for (std::uint32_t cells = 1; cells < filled_.size(); ++cells) {
    for (const std::uint32_t length : lengths) {
      if (length > cells) break;
      filled_[cells] = std::max(filled_[cells], length + filled_[cells - length]);
    }
  }
}

double FillTable::left_ms(double stretch_ms) const {
  const double cells = stretch_ms / cell_ms_ + 1e-6;
  if (!(cells < static_cast<double>(filled_.size()))) return 0;
  return std::max(0.0, stretch_ms - filled_[static_cast<std::size_t>(cells)] * cell_ms_);
}

void Scarcity::called(const View& view, StagesToPlace& stages, ApplicationId application) {
  if (application.index() >= rates_.size()) rates_.resize(application.index() + 1);
  CallRate& rate = rates_[application.index()];
  if (rate.seen > 0 && rate.last == view.now) return;  // who comes at the same instant gains nothing if it is refused
  rate.add(view.now, over_ms(view.application(application)));
  ++calls_;
  // Of many applications it takes longer, and each is a smaller part.
  const auto times = static_cast<std::uint32_t>(1 + view.applications.size() / 8);
  if (calls_ >= kCallsBetween * times || view.now - looked_at_ > kOld * times) look(view, stages);
}

double Scarcity::calls_per_ms(const View& view, ApplicationId application) const {
  if (application.index() >= rates_.size()) return 0;
  return rates_[application.index()].per_ms(view.now, over_ms(view.application(application)));
}

bool Scarcity::possible(const Configuration& c) const {
  return c.vcpu <= vcpus_.size && c.slices <= slices_.size;
}

double Scarcity::of(const Configuration& c, double ms) const {
  if (!possible(c)) return kImpossible;
  return ms * (vcpus_.price * vcpus_.part(c.vcpu) + slices_.price * slices_.part(c.slices));
}

void Scarcity::look_at_machines(const View& view) {
  vcpus_.size = slices_.size = 0;
  double vcpus = 0, slices = 0;
  for (const Invoker& invoker : view.invokers) {
    if (!invoker.usable) continue;
    vcpus_.size = std::max(vcpus_.size, invoker.vcpu);
    vcpus += invoker.vcpu;
    for (const Gpu& gpu : invoker.gpus) {
      slices_.size = std::max(slices_.size, gpu.slices);
      slices += gpu.slices;
    }
  }
  vcpus_.units = vcpus / std::max(1u, vcpus_.size);
  slices_.units = slices / std::max(1u, slices_.size);
}

void Scarcity::promised(ApplicationId application, std::size_t stages, std::size_t joined) {
  constexpr double kFades = 0.97;
  if (application.index() >= sharings_.size()) sharings_.resize(application.index() + 1);
  Sharing& sharing = sharings_[application.index()];
  sharing.stages = sharing.stages * kFades + static_cast<double>(stages);
  sharing.batches = sharing.batches * kFades + static_cast<double>(stages - joined);
}

// How many share a batch: somewhat more than lately, so that who is refused for taking more than that leaves room for
// those who take less. What could be by the rate of calls alone is never reached in many worlds, and would refuse all.
double Scarcity::company_of(ApplicationId application) const {
  constexpr double kMore = 1.5;
  if (application.index() >= sharings_.size()) return 1;
  const Sharing& sharing = sharings_[application.index()];
  return std::max(1.0, kMore * sharing.stages / std::max(sharing.batches, 1e-3));
}

// With what requests of the application can be promised. Again only where plans or machines are others.
const LeastUse& Scarcity::use_of(const View& view, StagesToPlace& stages, const ApplicationModel& model) {
  const std::pair sizes(vcpus_.size, slices_.size);
  if (sizes != of_sizes_) uses_.clear();
  of_sizes_ = sizes;
  uses_.resize(view.applications.size());
  const PlaceOrder& order = stages.of(view, model.id);
  if (uses_[model.id.index()].made() != order.made) look_at_use(view, model, order);
  return uses_[model.id.index()];
}

void Scarcity::look_at_use(const View& view, const ApplicationModel& model, const PlaceOrder& order) {
  std::vector<LeastUse::Points> points(model.model->stages.size());
  for (const StageToPlace& stage : order.stages) {
    if (!stage.runs) continue;
    profile::BatchInputs inputs;  // at best they are where it runs
    if (!stage.before.empty())
      inputs.add(true, model.application->function(view.queue(stage.queue).function).input_bytes.value_or(Bytes{}));
    const double moving_ms = profile::transfer_time(view.transfer, inputs).to_ms();
    for (const auto* choices : {&stage.choices, &stage.batches}) {
      for (const PlaceChoice& c : *choices) {
        points[stage.in_model].push_back({.ms = c.slowest_ms() + moving_ms,
                                          .vcpu_ms = c.ms * vcpus_.part(c.configuration.vcpu),
                                          .slice_ms = c.ms * slices_.part(c.configuration.slices),
                                          .batch = double(c.configuration.batch)});
      }
    }
  }
  uses_[model.id.index()] = LeastUse(model.model, points, order.made);
}

void Scarcity::look_at_candidates(const View& view) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<double> vcpu_lengths, slice_lengths;
  vcpus_.least = slices_.least = kNone;
  for (const ApplicationModel& model : view.applications) {
    if (model.removed || model.id.index() >= rates_.size() || rates_[model.id.index()].seen == 0) continue;
    for (const plan::ModelStage& stage : model.model->stages) {
      for (const plan::Candidate& c : stage.candidates) {
        if (!possible(c.configuration) || c.configuration.batch > 1) continue;
        if (c.configuration.vcpu > 0) {
          vcpus_.least = std::min<std::uint32_t>(vcpus_.least, c.configuration.vcpu);
          vcpu_lengths.push_back(c.ms);
        }
        if (c.configuration.slices > 0) {
          slices_.least = std::min<std::uint32_t>(slices_.least, c.configuration.slices);
          slice_lengths.push_back(c.ms);
        }
      }
    }
  }
  vcpus_.fill = FillTable(vcpu_lengths);
  slices_.fill = FillTable(slice_lengths);
}

void Scarcity::look(const View& view, StagesToPlace& stages) {
  looked_at_ = view.now;
  calls_ = 0;
  look_at_machines(view);
  look_at_candidates(view);
  for (const ApplicationModel& model : view.applications) {
    const bool called = model.id.index() < rates_.size() && rates_[model.id.index()].seen > 0;
    if (!model.removed && called)
      (void)use_of(view, stages, model);
    else if (model.id.index() < uses_.size())
      uses_[model.id.index()] = {};
  }
  // A whole cluster costs 1 a millisecond: `part` of that are its vCPUs. What is asked for is concave in it.
  const auto prices = [&](double part) {
    return std::pair(vcpus_.units > 0 ? part / vcpus_.units : 0, slices_.units > 0 ? (1 - part) / slices_.units : 0);
  };
  const auto asked_for = [&](double part, bool alone) {
    double sum = 0;
    for (const ApplicationModel& model : view.applications) {
      if (model.removed || model.id.index() >= rates_.size()) continue;
      const double rate = calls_per_ms(view, model.id);
      if (rate <= 0) continue;
      const double within = model.application->objective.latency.to_ms();
      const double company = alone ? 1 : company_of(model.id);
      sum += rate * uses_[model.id.index()].at(prices(part).first, prices(part).second, within, company);
    }
    return sum;
  };
  constexpr int kSteps = 24;  // each takes a third of what is left: to less than 1e-4
  double low = slices_.units > 0 ? 0 : 1, high = vcpus_.units > 0 ? 1 : 0;
  for (int i = 0; i < kSteps && high > low; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (asked_for(a, false) < asked_for(b, false))
      low = a;
    else
      high = b;
  }
  const double part = (low + high) / 2;
  load_ = asked_for(part, false);
  load_alone_ = asked_for(part, true);
  std::tie(vcpus_.price, slices_.price) = prices(part);
}

double Scarcity::least_of(const View& view, StagesToPlace& stages, ApplicationId application, double within_ms) {
  const LeastUse& use = use_of(view, stages, view.application(application));
  // Whoever is called rarely has nobody to share with, however long it waits.
  const double waits_ms = std::max(0.0, within_ms - stages.alone_ms(view, application));
  const double company = std::min(company_of(application), 1 + calls_per_ms(view, application) * waits_ms);
  return use.at(vcpus_.price, slices_.price, within_ms, company);
}

double Scarcity::wasted_by(const Skyline& skyline, const Configuration& c, const SlicePositions& positions,
                           const Span& span) const {
  const auto left = [](const FillTable& fill, Time from, Time to) {
    return from >= to || to == Time::max() ? 0.0 : fill.left_ms((to - from).to_ms());
  };
  const auto more = [&](const FillTable& fill, const Span& open) {
    return left(fill, open.from, span.from) + left(fill, span.to, open.to) - left(fill, open.from, open.to);
  };
  double sum = 0;
  if (c.vcpu > 0) {
    const std::uint32_t free = skyline.vcpus_free(span.from);
    if (free < c.vcpu + vcpus_.least)  // else others still fit beside it
      sum += vcpus_.price * free / vcpus_.size * more(vcpus_.fill, skyline.open_vcpus(span.from, vcpus_.least));
  }
  if (c.slices > 0) {
    const std::uint32_t free = skyline.slices_free(span.from, positions.gpu);
    if (free < c.slices + slices_.least)
      sum += slices_.price * free / slices_.size *
             more(slices_.fill, skyline.open_slices(span.from, positions.gpu, slices_.least));
  }
  return sum;
}

}  // namespace sluice::policy
