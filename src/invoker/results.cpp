#include "invoker/results.h"

#include <algorithm>

#include "base/text.h"

namespace sluice::invoker {
namespace {

Error nonsense(const std::string& what) {
  return {ErrorCode::invalid, what};
}

Result<data::Tensor> tensor_of(const wire::Placed& placed, const data::Block& space, const KeepOutput& keep) {
  const std::uint64_t begin = space.offset(), end = begin + space.size();
  if (placed.offset < begin || placed.size > end || placed.offset > end - placed.size) {
    return nonsense("answered with memory that is not its own");
  }
  data::Tensor out{.info = placed.info,
                   .block = space,
                   .offset = static_cast<std::size_t>(placed.offset - begin),
                   .size = static_cast<std::size_t>(placed.size)};
  const bool kept = placed.device != wire::kHost;
  const bool formed =
      kept ? data::byte_size(placed.info.type, placed.info.shape) == placed.size : data::index_texts(out, out.bytes());
  if (!formed) {
    return nonsense(str("answered with ", placed.size, " bytes for output '", printable(placed.info.name),
                        "', which do not have the type and shape it says"));
  }
  if (kept) out.kept = keep ? keep(placed) : nullptr;
  if (kept && out.kept == nullptr) return nonsense("kept an output that it could not");
  return out;
}

void check_declared(const Function& function, RowResult& row) {
  for (const Port& port : function.outputs) {
    const auto same = [&](const data::Tensor& t) { return t.info.name == port.name; };
    if (row.error.empty() && std::none_of(row.outputs.begin(), row.outputs.end(), same)) {
      row.error = str("function '", function.name, "' gave no output '", port.name, "'");
    }
  }
}

}  // namespace

Result<std::vector<RowResult>> results_of(const wire::Ran& ran, std::uint32_t rows, const data::Block& space,
                                          const Function& function, const KeepOutput& keep) {
  std::vector<RowResult> out(rows);
  if (!ran.error.empty()) {
    for (RowResult& row : out) row.error = ran.error;
    return out;
  }
  if (!ran.row_errors.empty() && ran.row_errors.size() != rows) return nonsense("answered for other rows");
  for (std::size_t r = 0; r < ran.row_errors.size(); ++r) out[r].error = ran.row_errors[r];
  for (const wire::Placed& placed : ran.outputs) {
    auto tensor = tensor_of(placed, space, keep);
    if (!tensor) return tensor.error();
    if (placed.row >= 0) {
      if (static_cast<std::uint32_t>(placed.row) >= rows) return nonsense("answered for other rows");
      out[static_cast<std::size_t>(placed.row)].outputs.push_back(std::move(*tensor));
      continue;
    }
    if (tensor->info.shape.empty() || tensor->info.shape.front() != rows) {
      return nonsense(str("gave output '", printable(placed.info.name), "' that does not have ", rows, " rows"));
    }
    for (std::uint32_t r = 0; r < rows; ++r) out[r].outputs.push_back(*data::row_of(*tensor, r));
  }
  for (RowResult& row : out) check_declared(function, row);
  return out;
}

}  // namespace sluice::invoker
