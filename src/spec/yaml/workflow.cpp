// `workflow:` of our YAML: the stages and what each waits for.
#include "base/text.h"
#include "domain/limits.h"
#include "spec/yaml/condition_text.h"
#include "spec/yaml/documents.h"

namespace sluice::spec {
namespace {

class ConditionReader {
 public:
  // At most limits::condition_terms_max terms in one condition.
  std::optional<ConditionDraft> read(const Cursor& cursor) {
    if (cursor.node().kind == Node::Kind::scalar) {
      if (cursor.node().text == "otherwise") return ConditionDraft{.kind = Condition::Kind::otherwise};
      cursor.error(
          str("'", printable(cursor.node().text), "' is not a condition; write otherwise or {STAGE.OUTPUT: '< 0.85'}"));
      return std::nullopt;
    }
    if (!cursor.is(Node::Kind::map)) return std::nullopt;
    if (cursor.node().entries.empty()) {
      cursor.error("is empty; write {STAGE.OUTPUT: '< 0.85'}");
      return std::nullopt;
    }
    // Several entries side by side must all hold.
    std::vector<ConditionDraft> terms;
    for (const Entry& entry : cursor.node().entries) {
      if (++count_ > limits::condition_terms_max) {
        cursor.error(str("has more than ", limits::condition_terms_max, " terms"));
        return std::nullopt;
      }
      auto term = one(entry, cursor);
      if (term) terms.push_back(std::move(*term));
    }
    if (terms.size() != cursor.node().entries.size()) return std::nullopt;
    if (terms.size() == 1) return std::move(terms.front());
    return ConditionDraft{.kind = Condition::Kind::all, .terms = std::move(terms)};
  }

 private:
  std::optional<ConditionDraft> one(const Entry& entry, const Cursor& cursor) {
    const Cursor value = cursor.child(entry.value, entry.key);
    if (entry.key == "all") return list(Condition::Kind::all, value);
    if (entry.key == "any") return list(Condition::Kind::any, value);
    if (entry.key == "not") {
      auto term = read(value);
      if (!term) return std::nullopt;
      return ConditionDraft{.kind = Condition::Kind::negate, .terms = {std::move(*term)}};
    }
    const auto parsed = parse_condition(entry.value);
    if (!parsed) {
      value.error("is not a comparison; write '< 0.85', '== car', '!= 3', 'present', 'absent' or 'matches img-*'");
      return std::nullopt;
    }
    return ConditionDraft{.left = {entry.key, entry.mark}, .comparator = parsed->first, .right = parsed->second};
  }

  std::optional<ConditionDraft> list(Condition::Kind kind, const Cursor& cursor) {
    ConditionDraft out{.kind = kind};
    const auto items = cursor.items();
    if (items.empty() && cursor.node().kind == Node::Kind::sequence) cursor.error("is empty");
    for (const Cursor& item : items) {
      auto term = read(item);
      if (term) out.terms.push_back(std::move(*term));
    }
    if (items.empty() || out.terms.size() != items.size()) return std::nullopt;
    return out;
  }

  std::size_t count_ = 0;
};

class StageReader {
 public:
  StageReader(const NamedCursor& entry, std::size_t depth) : fields_(with_empty(entry.value)), depth_(depth) {
    draft_.name = {entry.name, entry.mark};
    draft_.function = draft_.name;
  }

  StageDraft read() {
    kind();
    list("after", draft_.after);
    inputs();
    if (auto field = take("when")) draft_.when = ConditionReader().read(*field);
    if (auto field = take("foreach"))
      foreach (*field)
        ;
    if (auto field = take("join")) join(*field);
    if (auto field = take("retry")) retry(*field);
    if (auto field = take("catch")) catches(*field);
    if (auto field = take("wait")) draft_.stage.wait = field->duration().value_or(Duration{});
    if (auto field = take("timeout")) timeout(*field);
    if (auto field = take("idempotent")) draft_.stage.idempotent = field->boolean().value_or(true);
    if (auto field = take("configurations")) configurations(*field);
    fields_.finish();
    return std::move(draft_);
  }

 private:
  // `stage:` with nothing behind it is a stage with all defaults.
  static Cursor with_empty(const Cursor& cursor) {
    static const Node kEmpty{.kind = Node::Kind::map};
    if (cursor.node().kind != Node::Kind::null) return cursor;
    return {kEmpty, cursor.file(), cursor.path(), cursor.diagnostics()};
  }

  std::optional<Cursor> take(std::string_view name) {
    auto field = fields_.optional(name);
    if (field) draft_.marks[std::string(name)] = field->mark();
    return field;
  }

  // A stage runs a function unless it says otherwise.
  void kind() {
    const auto function = take("function");
    const auto pass = take("pass");
    const auto fail = take("fail");
    if (function) {
      if (auto name = function->name()) draft_.function = {*name, function->mark()};
    }
    if ((function ? 1 : 0) + (pass ? 1 : 0) + (fail ? 1 : 0) > 1)
      (pass ? *pass : *fail).error("a stage has one of `function`, `pass` and `fail`");
    if (pass && pass->boolean().value_or(false)) draft_.stage.kind = Stage::Kind::pass;
    if (fail) {
      draft_.stage.kind = Stage::Kind::fail;
      Fields fields(*fail);
      if (auto error = fields.optional("error")) draft_.stage.failure.error = error->text().value_or("");
      if (auto cause = fields.optional("cause")) draft_.stage.failure.cause = cause->text().value_or("");
      fields.finish();
    }
  }

  void list(std::string_view name, std::vector<Name>& out) {
    const auto field = take(name);
    if (!field) return;
    for (const Cursor& item : field->items(true)) {
      if (auto text = item.text()) out.push_back({*text, item.mark()});
    }
  }

  void inputs() {
    const auto field = take("inputs");
    if (!field) return;
    const auto entries = named_entries(*field, NameRule::port);
    if (entries.size() > limits::stage_inputs_max)
      field->error(str("wires ", entries.size(), " inputs, at most ", limits::stage_inputs_max, " are allowed"));
    for (const NamedCursor& entry : entries) {
      if (auto text = entry.value.text())
        draft_.inputs.push_back({{entry.name, entry.mark}, {*text, entry.value.mark()}});
    }
  }

  void foreach (const Cursor& cursor) {
    ForeachDraft out;
    if (cursor.node().kind == Node::Kind::scalar) {
      if (auto text = cursor.text()) out.over = {*text, cursor.mark()};
      draft_.foreach = std::move(out);
      return;
    }
    Fields fields(cursor);
    if (auto over = fields.required("over", "over: STAGE.OUTPUT")) {
      if (auto text = over->text()) out.over = {*text, over->mark()};
    }
    if (auto limit = fields.optional("limit"))
      out.limit = static_cast<std::uint32_t>(limit->integer(1, limits::foreach_items_max).value_or(0));
    if (auto body = fields.optional("workflow")) {
      if (draft_.stage.kind != Stage::Kind::run || draft_.marks.contains("function"))
        body->error("a stage with a workflow inside runs no function of its own");
      draft_.stage.kind = Stage::Kind::pass;
      if (depth_ < limits::foreach_depth_max)
        out.body = read_workflow(*body, depth_ + 1);
      else
        body->error(str("workflows are nested deeper than ", limits::foreach_depth_max, " levels"));
    }
    fields.finish();
    draft_.foreach = std::move(out);
  }

  void join(const Cursor& cursor) {
    Join& join = draft_.stage.join;
    if (cursor.node().text == "all") return;
    if (cursor.node().text == "any") {
      join.kind = Join::Kind::any;
    } else if (parse_int(cursor.node().text)) {
      join = {.kind = Join::Kind::at_least,
              .count = static_cast<std::uint32_t>(cursor.integer(1, limits::stages_max).value_or(1))};
    } else if (cursor.is(Node::Kind::scalar)) {
      cursor.error(
          str("'", printable(cursor.node().text), "' is not a join; write all, any or a number of predecessors"));
    }
  }

  void retry(const Cursor& cursor) {
    Retry out;
    Fields fields(cursor);
    if (auto field = fields.optional("attempts"))
      out.attempts = static_cast<std::uint32_t>(field->integer(0, limits::retry_attempts_max).value_or(0));
    if (auto field = fields.optional("interval")) out.interval = field->duration().value_or(out.interval);
    if (auto field = fields.optional("backoff")) out.backoff = field->number({1, 1e6}).value_or(out.backoff);
    if (auto field = fields.optional("max_delay")) out.max_delay = field->duration();
    if (auto field = fields.optional("on")) {
      for (const Cursor& item : field->items(true)) out.on.push_back(item.text().value_or(""));
    }
    fields.finish();
    draft_.stage.retry = std::move(out);
  }

  // Error names are the user's or ASL's ("States.Timeout"), so they are not held to our names.
  void catches(const Cursor& cursor) {
    if (!cursor.is(Node::Kind::map)) return;
    for (const Entry& entry : cursor.node().entries) {
      if (auto text = cursor.child(entry.value, entry.key).text())
        draft_.catches.push_back({entry.key, {*text, entry.value.mark}});
    }
  }

  void configurations(const Cursor& cursor) {
    ConfigurationFilter& filter = draft_.stage.configurations;
    Fields fields(cursor);
    if (auto field = fields.optional("batch")) filter.batch = read_counts(*field, 1, limits::batch_max);
    if (auto field = fields.optional("vcpu")) filter.vcpu = read_counts(*field, 0, limits::vcpu_max);
    if (auto field = fields.optional("vgpu")) filter.slices = read_counts(*field, 0, limits::slices_per_gpu_max);
    if (auto field = fields.optional("device")) {
      for (const Cursor& item : field->items(true)) {
        const auto text = item.text();
        if (text && DeviceKind::fits(*text))
          filter.device.emplace_back(*text);
        else if (text)
          item.error(str("a device is named by 1 to ", DeviceKind::kLengthMax,
                         " lower-case letters, digits, '-', '_' and '.'"));
      }
    }
    fields.finish();
  }

  void timeout(const Cursor& field) {
    draft_.stage.timeout = field.duration();
    if (draft_.stage.timeout && *draft_.stage.timeout <= Duration{}) field.error("is not above zero");
  }

  Fields fields_;
  std::size_t depth_;
  StageDraft draft_;
};

}  // namespace

WorkflowDraft read_workflow(const Cursor& workflow, std::size_t depth) {
  WorkflowDraft out;
  for (const NamedCursor& entry : named_entries(workflow)) out.stages.push_back(StageReader(entry, depth).read());
  return out;
}

}  // namespace sluice::spec
