// `functions:` of our YAML: bodies, ports, memory, cold starts.
#include <algorithm>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/yaml/documents.h"

namespace sluice::spec {
namespace {

class FunctionReader {
 public:
  FunctionReader(const Cursor& cursor, const std::string& root, Includes& includes)
      : cursor_(cursor), fields_(cursor), root_(root), includes_(includes) {}

  std::optional<FunctionDraft> read(std::string name) {
    if (!fields_.valid()) return std::nullopt;
    FunctionDraft draft;
    Function& function = draft.function;
    function.name = std::move(name);
    bodies(function);
    if (auto field = fields_.optional("memory")) function.memory = field->bytes();
    if (auto field = fields_.optional("bytes")) function.input_bytes = field->bytes();
    if (auto field = fields_.optional("inputs")) function.inputs = ports(*field);
    if (auto field = fields_.optional("outputs")) function.outputs = ports(*field);
    if (auto field = fields_.optional("cold_start")) function.cold_start = cold_start(*field);
    if (auto field = fields_.optional("min_instances")) {
      function.min_instances = static_cast<std::uint32_t>(field->integer(0, limits::min_instances_max).value_or(0));
    }
    if (auto field = fields_.optional("profile")) function.profile = read_profile(*field, includes_);
    if (auto field = fields_.optional("sample")) draft.sample = read_sample(*field, function, includes_);
    fields_.finish();
    return draft;
  }

 private:
  // One body for every device at the top, or one each under `cpu:` and `gpu:`.
  void bodies(Function& function) {
    const bool top = cursor_.node().find("runtime") != nullptr;
    const auto cpu = fields_.optional("cpu");
    const auto gpu = fields_.optional("gpu");
    if (cpu) function.cpu = body_of(*cpu);
    if (gpu) function.gpu = body_of(*gpu);
    if (top || (!cpu && !gpu)) {
      if (cpu || gpu) cursor_.error("has both `runtime` and a body under `cpu` or `gpu`; keep one form");
      function.cpu = function.gpu = body(fields_);
    } else {
      for (const std::string_view name : {"model", "command", "python", "precision", "layout"}) {
        if (auto stray = fields_.optional(name)) stray->error("belongs into the bodies under `cpu` and `gpu`");
      }
    }
  }

  std::optional<Body> body_of(const Cursor& cursor) {
    Fields fields(cursor);
    if (!fields.valid()) return std::nullopt;
    auto out = body(fields);
    fields.finish();
    return out;
  }

  std::optional<Body> body(Fields& fields) {
    const auto runtime = fields.required("runtime", "runtime: torch");
    const auto model = fields.optional("model");
    const auto command = fields.optional("command");
    const auto python = fields.optional("python");
    const auto precision = fields.optional("precision");
    const auto layout = fields.optional("layout");
    if (!runtime) return std::nullopt;
    const auto kind = runtime->choice(runtime_names());
    if (!kind) return std::nullopt;
    Body out{.runtime = static_cast<Runtime>(*kind)};
    if (model) {
      if (const auto path = model->text()) out.model = relative_to(root_, beside(model->file(), *path));
    }
    if (command) {
      for (const Cursor& word : command->items(true)) out.command.push_back(word.text().value_or(""));
    }
    needs(*runtime, out, model.has_value(), command.has_value());
    if (python && out.runtime != Runtime::python)
      python->error(str("belongs to runtime python, this one is ", name_of(out.runtime)));
    else if (python)
      out.command = read_python(*python, includes_);
    out.form.precision = form_field<Precision>(precision, out, kPrecisions);
    out.form.layout = form_field<MemoryLayout>(layout, out, kMemoryLayouts);
    return out;
  }

  // What is measured where nothing is said.
  template <class Enum>
  static Enum form_field(const std::optional<Cursor>& field, const Body& body,
                         std::span<const std::string_view> names) {
    if (!field) return Enum::best;
    if (body.runtime != Runtime::torch)
      field->error(str("belongs to runtime torch, this one is ", name_of(body.runtime)));
    return static_cast<Enum>(field->choice(names).value_or(0));
  }

  static void needs(const Cursor& at, const Body& body, bool model, bool command) {
    const std::string_view runtime = name_of(body.runtime);
    const bool program = body.runtime == Runtime::process;
    const bool file =
        body.runtime == Runtime::torch || body.runtime == Runtime::kernel || body.runtime == Runtime::python;
    if (file && !model) at.error(str("runtime ", runtime, " needs `model: FILE`"));
    if (!file && model) at.error(str("runtime ", runtime, " takes no `model`"));
    if (program && !command) at.error("runtime process needs `command: [PROGRAM, ARGUMENT, …]`");
    if (!program && command) at.error(str("runtime ", runtime, " takes no `command`"));
  }

  static std::vector<Port> ports(const Cursor& cursor) {
    std::vector<Port> out;
    for (const NamedCursor& entry : named_entries(cursor, NameRule::port)) {
      Fields fields(entry.value);
      if (!fields.valid()) continue;
      Port port{.name = entry.name};
      if (auto field = fields.required("type", "type: FP32")) {
        if (auto type = field->choice(data_type_names())) port.type = static_cast<DataType>(*type);
      }
      if (auto field = fields.required("shape", "shape: [3, -1, -1]")) port.shape = shape(*field);
      if (auto field = fields.optional("bytes")) port.bytes = field->bytes();
      fields.finish();
      out.push_back(std::move(port));
    }
    return out;
  }

  static std::vector<std::int64_t> shape(const Cursor& cursor) {
    std::vector<std::int64_t> out;
    const auto items = cursor.items();
    if (items.size() > limits::tensor_rank_max) {
      cursor.error(str("has ", items.size(), " dimensions, at most ", limits::tensor_rank_max, " are allowed"));
      return out;
    }
    for (const Cursor& item : items) {
      const auto dimension = item.integer(-1, std::int64_t{1} << 40);
      if (dimension == 0) item.error("is 0; a dimension is positive, or -1 for any length");
      if (dimension) out.push_back(*dimension);
    }
    return out;
  }

  static ColdStart cold_start(const Cursor& cursor) {
    ColdStart out;
    if (cursor.node().kind == Node::Kind::scalar) {  // not told apart: all of it is spent before the first level
      out.process = cursor.duration().value_or(Duration{});
      return out;
    }
    Fields fields(cursor);
    if (auto field = fields.optional("process")) out.process = field->duration().value_or(Duration{});
    if (auto field = fields.optional("host")) out.host = field->duration().value_or(Duration{});
    if (auto field = fields.optional("device")) out.device = field->duration().value_or(Duration{});
    fields.finish();
    return out;
  }

  Cursor cursor_;
  Fields fields_;
  const std::string& root_;
  Includes& includes_;
};

}  // namespace

std::vector<FunctionDraft> read_functions(const Cursor& functions, const std::string& root, Includes& includes) {
  std::vector<FunctionDraft> out;
  const auto entries = named_entries(functions);
  if (entries.size() > limits::functions_max) {
    functions.error(str("lists ", entries.size(), " functions, at most ", limits::functions_max, " are allowed"));
    return out;
  }
  for (const NamedCursor& entry : entries) {
    auto draft = FunctionReader(entry.value, root, includes).read(entry.name);
    if (!draft) continue;
    draft->file = functions.file();
    draft->mark = entry.mark;
    out.push_back(std::move(*draft));
  }
  return out;
}

std::vector<FunctionDraft> read_function_file(const std::string& path, const std::string& root, Mark at,
                                              const std::string& field, Includes& includes) {
  const auto node = includes.yaml(path, root, at, field);
  if (!node) return {};
  const Cursor document(*node, path, "", includes.diagnostics());
  Fields fields(document);
  std::vector<FunctionDraft> out;
  if (auto functions = fields.required("functions", "functions: {NAME: {runtime: …}}"))
    out = read_functions(*functions, root, includes);
  fields.finish();
  for (FunctionDraft& function : out) function.listed_here = false;
  return out;
}

}  // namespace sluice::spec
