// Whatever the bytes are: imported or refused with a reason, never both and never a crash, here and in build().
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "domain/limits.h"
#include "spec/asl/asl.h"
#include "spec/json_reader.h"

using namespace sluice;
using namespace sluice::spec;

namespace {

// A function for every task, as files listed in "Functions" would give.
void add_functions(const WorkflowDraft& workflow, std::vector<FunctionDraft>& out) {
  for (const StageDraft& stage : workflow.stages) {
    CHECK(stage.name.mark.line > 0);
    if (stage.stage.kind == Stage::Kind::run) {
      FunctionDraft& function = out.emplace_back();
      function.function.name = stage.function.text;
      function.function.cpu = Body{};
    }
    if (stage.foreach && stage.foreach->body) add_functions(*stage.foreach->body, out);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > limits::document_bytes_max) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Diagnostics of_text, of_document, of_draft;
  const auto node = read_json(text, "fuzz.json", of_text);
  CHECK(node.has_value() == !of_text.has_errors());
  if (!node) return 0;

  auto document = read_asl(*node, "fuzz.json", "fuzz", of_document);
  CHECK(document.has_value() == !of_document.has_errors());
  for (const Diagnostic& diagnostic : of_document.sorted()) CHECK(diagnostic.mark.line > 0);
  if (!document) return 0;

  add_functions(document->draft.workflow, document->draft.functions);
  const auto application = build(std::move(document->draft), of_draft);
  CHECK(application.has_value() == !of_draft.has_errors());
  return 0;
}
