#include "spec/asl/errors.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec::asl {
namespace {

constexpr double kBackoffMax = 1e6;

void read_delays(Fields& fields, Retry& retry) {
  if (const auto field = fields.optional("IntervalSeconds")) {
    if (const auto value = seconds(*field, 1)) retry.interval = Duration::s(static_cast<double>(*value));
  }
  if (const auto field = fields.optional("MaxDelaySeconds")) {
    const auto value = seconds(*field, 1);
    if (!value) return;
    retry.max_delay = Duration::s(static_cast<double>(*value));
    if (*retry.max_delay <= retry.interval) field->error("must be greater than IntervalSeconds");
  }
}

void read_jitter(Fields& fields) {
  const auto field = fields.optional("JitterStrategy");
  const auto text = field ? quoted(*field) : std::nullopt;
  if (!text || *text == "NONE") return;
  field->error(*text == "FULL" ? "'FULL' is not supported; retries wait exactly as long as written (\"NONE\")"
                               : str("'", printable(*text), "' is not known; write \"NONE\""));
}

Retry read_retrier(const Cursor& cursor) {
  Retry retry;
  Fields fields(cursor);
  if (!fields.valid()) return retry;
  (void)fields.optional("Comment");
  for (Name& name : error_names(fields)) {
    if (name.text != kAllErrors) retry.on.push_back(std::move(name.text));
  }
  if (const auto field = fields.optional("MaxAttempts")) {
    if (const auto value = field->integer(0, limits::retry_attempts_max))
      retry.attempts = static_cast<std::uint32_t>(*value);
  }
  if (const auto field = fields.optional("BackoffRate")) {
    if (const auto value = field->number({1, kBackoffMax})) retry.backoff = *value;
  }
  read_delays(fields, retry);
  read_jitter(fields);
  fields.finish();
  return retry;
}

void read_catcher_result(Fields& fields, Catcher& catcher) {
  const auto field = fields.optional("ResultPath");
  if (!field) return;
  const Node& node = field->node();
  if (node.kind == Node::Kind::null) {
    catcher.result = {.kind = ResultPath::Kind::discard, .mark = field->mark()};
  } else if (node.kind == Node::Kind::scalar && node.text == "$.error") {
    catcher.result = {.kind = ResultPath::Kind::key, .key = "error", .mark = field->mark()};
  } else {
    field->error("in a Catch only \"$.error\" and null are supported");
  }
}

}  // namespace

void read_retry(Fields& fields, State& state) {
  const auto field = fields.optional("Retry");
  if (!field) return;
  const std::vector<Cursor> retriers = field->items();
  for (std::size_t i = 1; i < retriers.size(); ++i) {
    retriers[i].error("several retriers are not supported; put all errors into one");
  }
  if (retriers.empty()) return;
  state.draft.stage.retry = read_retrier(retriers.front());
  state.draft.marks["retry"] = field->mark();
}

void read_catch(Fields& fields, State& state) {
  const auto field = fields.optional("Catch");
  if (!field) return;
  state.draft.marks["catch"] = field->mark();
  std::set<std::string> seen;
  bool all = false;
  for (const Cursor& item : field->items()) {
    Fields inner(item);
    if (!inner.valid()) continue;
    if (all) item.error("is never used: 'States.ALL' must be in the last catcher");
    (void)inner.optional("Comment");
    Catcher catcher;
    if (const auto next = inner.required("Next", R"("Next": "STATE")")) catcher.next = *target(inner, "Next");
    read_catcher_result(inner, catcher);
    for (Name& name : error_names(inner)) {
      if (!seen.insert(name.text).second) item.error(str("'", printable(name.text), "' is caught above already"));
      if (name.text == kAllErrors) {
        all = true;
        name.text = "all";
      }
      catcher.error = std::move(name);
      state.catchers.push_back(catcher);
    }
    inner.finish();
  }
}

}  // namespace sluice::spec::asl
