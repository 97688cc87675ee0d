#include "spec/yaml/write_yaml.h"

#include <algorithm>

#include "base/text.h"
#include "spec/yaml/condition_text.h"

namespace sluice::spec {
namespace {

// A scalar that is read back as the same text: names as they are, everything else in double quotes.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += str('\\', c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else
      out += c;
  }
  return out + "\"";
}

template <class List, class Write>
std::string list(const List& items, const Write& write) {
  std::string out = "[";
  for (const auto& item : items) out += str(out.size() > 1 ? ", " : "", write(item));
  return out + "]";
}

// Collects `key: value` pairs of a mapping written on one line.
class Inline {
 public:
  void add(std::string_view key, std::string_view value) { text_ += str(text_.empty() ? "" : ", ", key, ": ", value); }
  [[nodiscard]] std::string text() const { return str("{", text_, "}"); }
  [[nodiscard]] bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

std::string numbers(const std::vector<std::uint16_t>& values) {
  return list(values, [](std::uint16_t value) { return str(value); });
}

// The command of a Python function is its interpreter and its requirements: see read_python().
std::string python(const std::vector<std::string>& command) {
  constexpr std::string_view kInterpreter = "/bin/python3";
  Inline out;
  const std::string& interpreter = command.front();
  if (!interpreter.empty()) out.add("venv", quoted(interpreter.substr(0, interpreter.size() - kInterpreter.size())));
  if (command.size() > 1) out.add("requirements", list(std::vector(command.begin() + 1, command.end()), quoted));
  return out.text();
}

// `add` takes a name and its value.
void body_fields(const Body& body, const auto& add) {
  add("runtime", name_of(body.runtime));
  if (!body.model.empty()) add("model", quoted(body.model));
  if (!body.command.empty() && body.runtime == Runtime::python)
    add("python", python(body.command));
  else if (!body.command.empty())
    add("command", list(body.command, quoted));
  if (body.form.precision != Precision::best) add("precision", name_of(body.form.precision));
  if (body.form.layout != MemoryLayout::best) add("layout", name_of(body.form.layout));
}

std::string body(const Body& body) {
  Inline out;
  body_fields(body, [&](std::string_view name, std::string_view value) { out.add(name, value); });
  return out.text();
}

std::string ports(const std::vector<Port>& ports) {
  Inline out;
  for (const Port& port : ports) {
    Inline fields;
    fields.add("type", name_of(port.type));
    fields.add("shape", list(port.shape, [](std::int64_t dimension) { return str(dimension); }));
    if (port.bytes) fields.add("bytes", to_string(*port.bytes));
    out.add(quoted(port.name), fields.text());
  }
  return out.text();
}

std::string row(const ProfileRow& row) {
  const Configuration& c = row.configuration;
  std::string out = str("[", c.batch, ", ", c.vcpu, ", ", c.slices, ", ", row.mean_ms, ", ", row.sd_ms, ", ",
                        quoted(c.device.name()), ", ", row.size);
  if (row.busy_mean_ms) out += str(", ", *row.busy_mean_ms);
  return out + "]";
}

std::string profile(const Profile& profile, std::string_view indent) {
  if (const auto* table = std::get_if<ProfileTable>(&profile)) {
    std::string out = str("\n", indent, "  table:");
    for (const ProfileRow& r : table->rows) out += str("\n", indent, "    - ", row(r));
    return out;
  }
  const auto& model = std::get<ProfileModel>(profile);
  Inline terms;
  terms.add("exec", to_string(model.exec));
  terms.add("floor", str(model.floor));
  terms.add("cpu", str(model.cpu));
  terms.add("gpu", str(model.gpu));
  terms.add("beta", str(model.beta));
  terms.add("gamma", str(model.gamma));
  return str("\n", indent, "  model: ", terms.text(), "\n", indent, "  batch: ", numbers(model.batch), "\n", indent,
             "  vcpu: ", numbers(model.vcpu), "\n", indent, "  vgpu: ", numbers(model.slices), "\n", indent,
             "  noise: ", model.noise);
}

std::string function(const Function& function) {
  std::string out = str("  ", quoted(function.name), ":\n");
  const auto field = [&](std::string_view name, std::string_view value) {
    out += str("    ", name, ": ", value, "\n");
  };
  if (function.cpu && function.cpu == function.gpu) {
    body_fields(*function.cpu, field);
  } else {
    if (function.cpu) field("cpu", body(*function.cpu));
    if (function.gpu) field("gpu", body(*function.gpu));
  }
  if (function.memory) field("memory", to_string(*function.memory));
  if (function.input_bytes) field("bytes", to_string(*function.input_bytes));
  if (!function.inputs.empty()) field("inputs", ports(function.inputs));
  if (!function.outputs.empty()) field("outputs", ports(function.outputs));
  if (!(function.cold_start == ColdStart{})) {
    Inline levels;
    levels.add("process", to_string(function.cold_start.process));
    levels.add("host", to_string(function.cold_start.host));
    levels.add("device", to_string(function.cold_start.device));
    field("cold_start", levels.text());
  }
  if (function.min_instances > 0) field("min_instances", str(function.min_instances));
  if (!std::holds_alternative<std::monostate>(function.profile)) field("profile", profile(function.profile, "    "));
  return out;
}

// Writes the stages of one workflow of `application`.
class WorkflowWriter {
 public:
  WorkflowWriter(const Application& application, const Workflow& workflow)
      : application_(application), workflow_(workflow) {}

  [[nodiscard]] std::string write() const {
    Inline out;
    for (const Stage& stage : workflow_.stages) out.add(quoted(stage.name), stage_text(stage));
    return out.text();
  }
  [[nodiscard]] std::string stage_text(const Stage& stage) const {
    Inline out;
    const bool body = stage.foreach && !stage.foreach->body.empty();
    if (stage.kind == Stage::Kind::run && application_.function(stage.function).name != stage.name) {
      out.add("function", quoted(application_.function(stage.function).name));
    }
    if (stage.kind == Stage::Kind::pass && !body) out.add("pass", "true");
    if (stage.kind == Stage::Kind::fail) out.add("fail", failure(stage.failure));
    if (!stage.after.empty())
      out.add("after", list(stage.after, [&](StageId id) { return quoted(workflow_.at(id).name); }));
    if (!stage.inputs.empty()) out.add("inputs", inputs(stage.inputs));
    if (stage.when) out.add("when", condition(*stage.when));
    if (stage.foreach) out.add("foreach", foreach (*stage.foreach));
    if (stage.join.kind != Join::Kind::all)
      out.add("join", stage.join.kind == Join::Kind::any ? "any" : str(stage.join.count));
    if (stage.retry) out.add("retry", retry(*stage.retry));
    if (!stage.catches.empty()) out.add("catch", catches(stage.catches));
    if (stage.wait > Duration{}) out.add("wait", to_string(stage.wait));
    if (stage.timeout) out.add("timeout", to_string(*stage.timeout));
    if (!stage.idempotent) out.add("idempotent", "false");
    if (!stage.configurations.empty()) out.add("configurations", filter(stage.configurations));
    return out.text();
  }
  [[nodiscard]] std::string reference(const Reference& r) const { return quoted(describe(r, workflow_)); }

 private:
  static std::string failure(const Failure& failure) {
    Inline out;
    if (!failure.error.empty()) out.add("error", quoted(failure.error));
    if (!failure.cause.empty()) out.add("cause", quoted(failure.cause));
    return out.text();
  }
  [[nodiscard]] std::string inputs(const std::vector<InputBinding>& bindings) const {
    Inline out;
    for (const InputBinding& binding : bindings) out.add(quoted(binding.input), reference(binding.from));
    return out.text();
  }
  [[nodiscard]] std::string condition(const Condition& when) const {
    if (when.kind == Condition::Kind::otherwise) return "otherwise";
    Inline out;
    const auto term = [&](const Condition& c) { return condition(c); };
    if (when.kind == Condition::Kind::all) out.add("all", list(when.terms, term));
    if (when.kind == Condition::Kind::any) out.add("any", list(when.terms, term));
    if (when.kind == Condition::Kind::negate) out.add("not", condition(when.terms.front()));
    if (when.kind == Condition::Kind::compare) {
      out.add(reference(when.comparison.left),
              quoted(condition_text(when.comparison.comparator, when.comparison.right)));
    }
    return out.text();
  }
  [[nodiscard]] std::string foreach (const Foreach& loop) const {
    Inline out;
    out.add("over", reference(loop.over));
    if (loop.limit > 0) out.add("limit", str(loop.limit));
    if (!loop.body.empty()) out.add("workflow", WorkflowWriter(application_, loop.body.front()).write());
    return out.text();
  }
  static std::string retry(const Retry& retry) {
    Inline out;
    out.add("attempts", str(retry.attempts));
    out.add("interval", to_string(retry.interval));
    out.add("backoff", str(retry.backoff));
    if (retry.max_delay) out.add("max_delay", to_string(*retry.max_delay));
    if (!retry.on.empty()) out.add("on", list(retry.on, quoted));
    return out.text();
  }
  [[nodiscard]] std::string catches(const std::vector<Catch>& catches) const {
    Inline out;
    for (const Catch& c : catches) out.add(quoted(c.error), quoted(workflow_.at(c.handler).name));
    return out.text();
  }
  static std::string filter(const ConfigurationFilter& filter) {
    Inline out;
    if (!filter.batch.empty()) out.add("batch", numbers(filter.batch));
    if (!filter.vcpu.empty()) out.add("vcpu", numbers(filter.vcpu));
    if (!filter.slices.empty()) out.add("vgpu", numbers(filter.slices));
    if (!filter.device.empty())
      out.add("device", list(filter.device, [](const DeviceKind& device) { return quoted(device.name()); }));
    return out.text();
  }

  const Application& application_;
  const Workflow& workflow_;
};

}  // namespace

std::string write_yaml(const Application& application) {
  std::string out = str("application: ", quoted(application.name), "\n", "tenant: ", quoted(application.tenant), "\n");
  Inline slo;
  slo.add("latency", to_string(application.objective.latency));
  if (application.objective.percentile) slo.add("percentile", str(*application.objective.percentile));
  if (application.objective.cost) slo.add("cost", str(*application.objective.cost));
  if (application.objective.prefer != Prefer::balance)
    slo.add("prefer", kPreferNames[static_cast<std::size_t>(application.objective.prefer)]);
  out += str("slo: ", slo.text(), "\n");
  out +=
      str("prices: {vcpu_hour: ", application.prices.vcpu_hour, ", vgpu_hour: ", application.prices.vgpu_hour, "}\n");
  out += application.functions.empty() ? "functions: {}\n" : "functions:\n";
  for (const Function& f : application.functions) out += function(f);
  out += "workflow:\n";
  const WorkflowWriter writer(application, application.workflow);
  for (const Stage& stage : application.workflow.stages)
    out += str("  ", quoted(stage.name), ": ", writer.stage_text(stage), "\n");
  if (!application.outputs.empty()) out += "outputs:\n";
  for (const OutputBinding& output : application.outputs)
    out += str("  ", quoted(output.name), ": ", writer.reference(output.from), "\n");
  return out;
}

}  // namespace sluice::spec
