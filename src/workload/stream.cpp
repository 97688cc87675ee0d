#include "workload/stream.h"

#include <utility>

#include "base/hash.h"
#include "domain/limits.h"
#include "workload/range.h"

namespace sluice::workload {
namespace {

// Keys of the generators; by name, so that no other component has them by accident.
constexpr std::uint64_t key(std::string_view name) {
  Hash hash;
  hash.add(name);
  return hash.value();
}

Error invalid(std::string message) {
  return {ErrorCode::invalid, std::move(message)};
}

}  // namespace

// Makes the source that belongs to each alternative of Arrivals.
struct ArrivalStream::SourceMaker {
  const Workload& workload;
  std::span<const std::string> applications;
  std::string_view trace_text;

  Result<Source> operator()(const UniformGap& gap) const { return lift(UniformGapProcess::make(gap)); }
  Result<Source> operator()(const Poisson& poisson) const {
    return lift(RenewalProcess::make({.rate = poisson.rate, .cv = 1}));
  }
  Result<Source> operator()(const Renewal& renewal) const { return lift(RenewalProcess::make(renewal)); }
  Result<Source> operator()(const OnOff& on_off) const { return lift(OnOffProcess::make(on_off)); }
  Result<Source> operator()(const Diurnal& diurnal) const { return lift(DiurnalProcess::make(diurnal)); }
  Result<Source> operator()(const Listed& listed) const { return lift(ListedProcess::make(listed)); }
  Result<Source> operator()(const Trace& trace) const {
    for (const auto& [field, value] : {std::pair{"time_scale", trace.time_scale}, {"rate_scale", trace.rate_scale}}) {
      if (Status ok = check_range(field, value, limits::scale_min, limits::scale_max); !ok) return ok.error();
    }
    return trace.format == TraceFormat::azure_functions_2019 ? minutes(trace) : requests(trace);
  }

 private:
  Result<Source> minutes(const Trace& trace) const {
    if (!workload.mix.empty()) return invalid("mix: the trace says which function is called; write a mapping instead");
    const AzureFunctions counts = read_azure_functions(trace_text);
    if (!counts.ok()) return invalid(describe(counts.errors, trace.file));
    return lift(MinuteTrace::make(counts, trace, applications));
  }
  Result<Source> requests(const Trace& trace) const {
    if (!trace.mapping.empty()) return invalid("mapping: the trace names no functions; write a mix instead");
    const AzureLlm rows = read_azure_llm(trace_text);
    if (!rows.ok()) return invalid(describe(rows.errors, trace.file));
    return Source(RequestTrace(rows, trace));
  }
  template <class T>
  static Result<Source> lift(Result<T> made) {
    if (!made) return made.error();
    return Source(std::move(*made));
  }
};

Result<ArrivalStream> ArrivalStream::make(const Workload& workload, std::span<const std::string> applications,
                                          std::uint64_t seed, std::string_view trace_text) {
  Result<Mix> mix = Mix::make(workload.mix, applications);
  if (!mix) return mix.error();
  Result<Source> source = std::visit(SourceMaker{workload, applications, trace_text}, workload.arrivals);
  if (!source) return source.error();
  return ArrivalStream(std::move(*source), std::move(*mix), seed, workload.warmup + workload.requests);
}

ArrivalStream::ArrivalStream(Source source, Mix mix, std::uint64_t seed, std::uint64_t requests)
    : source_(std::move(source)),
      mix_(std::move(mix)),
      time_rng_(Rng::keyed(seed, key("workload times"))),
      mix_rng_(Rng::keyed(seed, key("workload mix"))),
      left_(requests) {}

std::optional<Arrival> ArrivalStream::next() {
  if (left_ == 0) return std::nullopt;
  const auto next_of = [&](auto& source) { return std::optional<Instant>(source.next(time_rng_)); };
  const std::optional<Instant> instant = std::visit(next_of, source_);
  if (!instant || instant->ns > static_cast<double>(limits::arrivals_span_max.count_ns())) {
    left_ = 0;
    return std::nullopt;
  }
  --left_;
  return Arrival{.at = Duration::ns(static_cast<std::int64_t>(instant->ns + 0.5)),
                 .application = instant->application ? *instant->application : mix_.draw(mix_rng_)};
}

}  // namespace sluice::workload
