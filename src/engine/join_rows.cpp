#include "engine/join_rows.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/place.h"

namespace sluice::engine {
namespace {

struct Part {
  std::int32_t row = 0;
  const OwnTensor* tensor = nullptr;
};

// The parts of every name, in the order in which names appear.
std::vector<std::vector<Part>> parts_by_name(const std::vector<RowOutputs>& rows) {
  std::vector<std::vector<Part>> names;
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (const OwnTensor& tensor : rows[row].tensors) {
      const auto [number, fresh] = numbers.emplace(tensor.info.name, names.size());
      if (fresh) names.emplace_back();
      names[number->second].push_back({static_cast<std::int32_t>(row), &tensor});
    }
  }
  return names;
}

bool stackable(const std::vector<Part>& parts, std::size_t rows) {
  return parts.size() == rows &&
         std::ranges::all_of(parts, [&](const Part& part) { return part.tensor->info == parts.front().tensor->info; });
}

PlannedOutput stacked(const std::vector<Part>& parts) {
  PlannedOutput output{.info = parts.front().tensor->info};
  output.info.shape.push_front(static_cast<std::int64_t>(parts.size()));
  for (const Part& part : parts) output.bytes += part.tensor->bytes.size();
  return output;
}

}  // namespace

Result<Outputs> join_rows(std::vector<RowOutputs> rows, OutputSpace& space) {
  std::vector<PlannedOutput> planned;
  std::vector<std::vector<Part>> sources;  // of every output: the parts that make it up
  for (auto& parts : parts_by_name(rows)) {
    if (stackable(parts, rows.size())) {
      planned.push_back(stacked(parts));
      sources.push_back(std::move(parts));
      continue;
    }
    for (const Part& part : parts) {
      planned.push_back({part.tensor->info, part.row, part.tensor->bytes.size()});
      sources.push_back({part});
    }
  }
  auto tensors = place(std::move(planned), space);
  if (!tensors) return tensors.error();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    auto to = (*tensors)[i].tensor.bytes.begin();
    for (const Part& part : sources[i]) to = std::ranges::copy(std::as_bytes(std::span(part.tensor->bytes)), to).out;
  }
  Outputs outputs{.tensors = std::move(*tensors)};
  if (std::ranges::any_of(rows, [](const RowOutputs& row) { return !row.error.empty(); })) {
    for (RowOutputs& row : rows) outputs.row_errors.push_back(std::move(row.error));
  }
  return outputs;
}

}  // namespace sluice::engine
