#include "spec/load.h"

#include <array>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/asl/asl.h"
#include "spec/json_reader.h"
#include "spec/triton/pbtxt_reader.h"
#include "spec/triton/triton.h"
#include "spec/yaml/documents.h"
#include "spec/yaml/reader.h"

namespace sluice::spec {
namespace {

Format format_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".json" || extension == ".asl") return Format::asl;
  if (extension == ".pbtxt") return Format::triton;
  return Format::yaml;
}

// `samples`: null for what another document lists.
void note_samples(const std::vector<FunctionDraft>& functions, Samples* samples) {
  for (const FunctionDraft& draft : functions) {
    if (samples != nullptr && !draft.sample.empty()) samples->insert_or_assign(draft.function.name, draft.sample);
  }
}

std::optional<Application> load_yaml_application(const Node& node, const std::string& path, Includes& includes,
                                                 Samples* samples) {
  auto draft = read_application(Cursor(node, path, "", includes.diagnostics()), includes);
  if (!draft) return std::nullopt;
  note_samples(draft->functions, samples);
  return build(std::move(*draft), includes.diagnostics());
}

// Functions listed beside a document of a format that has none of its own.
std::vector<FunctionDraft> functions_beside(const std::string& document, Includes& includes) {
  const std::string file = beside(document, "functions.yaml");
  if (!includes.reader()(file)) return {};
  return read_function_file(file, document, {}, "functions", includes);
}

std::optional<Application> load_asl(const std::string& text, const std::string& path, Includes& includes,
                                    Samples* samples) {
  Diagnostics& out = includes.diagnostics();
  const auto node = read_json(text, path, out);
  if (!node) return std::nullopt;
  auto asl = read_asl(*node, path, std::filesystem::path(path).stem().string(), out);
  if (!asl) return std::nullopt;
  if (asl->function_files.empty()) asl->draft.functions = functions_beside(path, includes);
  for (const Name& file : asl->function_files) {
    auto listed = read_function_file(beside(path, file.text), path, file.mark, "Functions", includes);
    std::move(listed.begin(), listed.end(), std::back_inserter(asl->draft.functions));
  }
  if (out.has_errors()) return std::nullopt;
  note_samples(asl->draft.functions, samples);
  return build(std::move(asl->draft), out);
}

// Steps run functions listed in functions.yaml beside the ensemble, else the models in the folders beside its own.
std::vector<FunctionDraft> triton_functions(const Node& ensemble, const std::string& document, Includes& includes) {
  std::vector<FunctionDraft> known = functions_beside(document, includes);
  for (const std::string& model : triton_models(ensemble)) {
    const std::string file = beside(document, str("../", model, "/config.pbtxt"));
    if (!legal_name(model) || !includes.reader()(file)) continue;
    const auto text = includes.text(file, document, {}, "ensemble_scheduling.step");
    const auto node = text ? read_pbtxt(*text, file, includes.diagnostics()) : std::nullopt;
    auto function =
        node ? read_triton_model(*node, {.file = file, .name = model}, includes.diagnostics()) : std::nullopt;
    if (function) known.push_back(std::move(*function));
  }
  return known;
}

std::optional<Application> load_triton(const std::string& text, const std::string& path, Includes& includes,
                                       Samples* samples) {
  Diagnostics& out = includes.diagnostics();
  const auto node = read_pbtxt(text, path, out);
  if (!node) return std::nullopt;
  const std::vector<FunctionDraft> known = triton_functions(*node, path, includes);
  const std::string folder = std::filesystem::path(path).parent_path().filename().string();
  auto ensemble = read_triton(*node, {.file = path, .name = folder, .known = known}, out);
  if (!ensemble || out.has_errors()) return std::nullopt;
  note_samples(known, samples);
  return build(std::move(ensemble->draft), out);
}

void note_places(const Node& node, const std::string& path, int depth, std::map<std::string, Mark, std::less<>>& out) {
  if (!path.empty()) out.emplace(path, node.mark);
  if (depth == 0) return;
  for (const Entry& entry : node.entries) {
    note_places(entry.value, path.empty() ? entry.key : str(path, ".", entry.key), depth - 1, out);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i)
    note_places(node.items[i], str(path, "[", i, "]"), depth - 1, out);
}

std::optional<Document> load_yaml(const std::string& text, const std::string& path, Includes& includes,
                                  Loaded* loaded) {
  Diagnostics& out = includes.diagnostics();
  Samples* const samples = loaded == nullptr ? nullptr : &loaded->samples;
  const auto node = read_yaml(text, path, out);
  if (!node) return std::nullopt;
  const Cursor document(*node, path, "", out);
  if (!document.is(Node::Kind::map)) return std::nullopt;
  // What a document is follows from the field that only it has.
  if (node->find("application") != nullptr || node->find("workflow") != nullptr)
    return load_yaml_application(*node, path, includes, samples);
  if (node->find("experiment") != nullptr) {
    if (loaded != nullptr) note_places(*node, "", 2, loaded->places);
    return read_experiment(document, includes);
  }
  if (node->find("functions") != nullptr) {
    FunctionList list;
    Fields fields(document);
    auto drafts = read_functions(*fields.optional("functions"), path, includes);
    note_samples(drafts, samples);
    for (FunctionDraft& draft : drafts) list.functions.push_back(std::move(draft.function));
    fields.finish();
    return list;
  }
  if (node->find("cluster") != nullptr) {
    Fields fields(document);
    auto cluster = read_cluster(*fields.optional("cluster"));
    fields.finish();
    return cluster;
  }
  out.error(
      path, node->mark, "",
      "is no document of Sluice: it has none of the fields `application`, `experiment`, `functions` and `cluster`");
  return std::nullopt;
}

// `loaded`: where to note places and samples; null for what another document lists.
std::optional<Document> load_text(const std::string& text, const std::string& path, Format format, Includes& includes,
                                  Loaded* loaded = nullptr) {
  if (!valid_utf8(text)) {
    includes.diagnostics().error(path, {}, "", "is not text in UTF-8");
    return std::nullopt;
  }
  switch (format) {
    case Format::asl:
      return load_asl(text, path, includes, loaded == nullptr ? nullptr : &loaded->samples);
    case Format::triton:
      return load_triton(text, path, includes, loaded == nullptr ? nullptr : &loaded->samples);
    case Format::yaml:
      break;
  }
  return load_yaml(text, path, includes, loaded);
}

Result<std::string> read_up_to(const std::string& path, std::size_t bytes_max) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) return Error{ErrorCode::not_found, str("there is no file ", path)};
  if (!std::filesystem::is_regular_file(status)) return Error{ErrorCode::invalid, str(path, " is not a file")};
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error{ErrorCode::io, str(path, " cannot be opened; check its permissions")};
  constexpr std::size_t kPart = 1 << 20;
  std::string content;
  while (stream && content.size() <= bytes_max) {
    const std::size_t before = content.size();
    content.resize(before + kPart);
    stream.read(content.data() + before, kPart);
    content.resize(before + static_cast<std::size_t>(stream.gcount()));
  }
  if (content.size() > bytes_max) {
    return Error{ErrorCode::too_large, str(path, " has ", std::filesystem::file_size(path, ignored), " bytes, at most ",
                                           bytes_max, " are allowed")};
  }
  return content;
}

}  // namespace

Result<std::string> read_from_disk(const std::string& path) {
  return read_up_to(path, limits::document_bytes_max);
}

Result<std::string> read_trace_from_disk(const std::string& path) {
  return read_up_to(path, limits::trace_bytes_max);
}

std::string Loaded::place(std::string_view field) const {
  const auto it = places.find(field);
  if (it == places.end()) return str(file, ": ", field);
  return str(file, ":", it->second.line, ":", it->second.column, ": ", field);
}

std::string_view name_of(Format format) {
  constexpr std::array<std::string_view, 3> kNames = {"yaml", "asl", "triton"};
  return kNames[static_cast<std::size_t>(format)];
}

std::optional<Application> load_application(const std::string& path, const std::string& from, Mark at,
                                            const std::string& field, Includes& includes) {
  const auto text = includes.text(path, from, at, field);
  if (!text) return std::nullopt;
  auto document = load_text(*text, path, format_of(path), includes);
  if (!document) return std::nullopt;
  if (auto* application = std::get_if<Application>(&*document)) return std::move(*application);
  includes.diagnostics().error(from, at, field, str(path, " is no application"));
  return std::nullopt;
}

Loaded load(const std::string& path, const ReadFile& read) {
  Loaded out{.file = path, .format = format_of(path)};
  const auto text = read(path);
  if (!text) {
    out.diagnostics.error(path, {}, "", text.error().message);
    return out;
  }
  Includes includes(read, out.diagnostics);
  out.document = load_text(*text, path, out.format, includes, &out);
  if (out.diagnostics.has_errors()) out.document.reset();
  return out;
}

}  // namespace sluice::spec
