// Reads the Azure LLM inference trace 2023: TIMESTAMP, ContextTokens, GeneratedTokens, a row for each request, by time.
// Text in, rows out; files are opened elsewhere.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "workload/trace_lines.h"

namespace sluice::workload {

struct LlmRequest {
  Time at;
  std::uint32_t context_tokens = 0, generated_tokens = 0;
  friend bool operator==(const LlmRequest&, const LlmRequest&) = default;
};

struct AzureLlm {
  std::vector<LlmRequest> rows;  // `at` never decreases; to be used only if ok()
  std::vector<TraceError> errors;
  [[nodiscard]] bool ok() const { return errors.empty(); }
};

[[nodiscard]] AzureLlm read_azure_llm(std::string_view text);

// "2023-11-16 18:17:03.9799600", UTC, with up to nine digits after the second or none; years 1970 to 2199.
[[nodiscard]] std::optional<Time> parse_timestamp(std::string_view text);

}  // namespace sluice::workload
