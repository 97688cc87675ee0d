#include "invoker/gather.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace sluice::invoker {
namespace {

bool same_form(const data::Tensors& a, const data::Tensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const data::Tensor& x, const data::Tensor& y) { return x.info == y.info; });
}

std::uint64_t place(const data::Tensor& tensor) {
  return tensor.block.offset() + tensor.offset;
}

// Whether the tensors lie one after the other.
bool adjacent(std::span<const data::Tensors* const> members, std::size_t tensor) {
  for (std::size_t m = 1; m < members.size(); ++m) {
    const data::Tensor& before = (*members[m - 1])[tensor];
    if (place(before) + before.size != place((*members[m])[tensor])) return false;
  }
  return true;
}

wire::Placed stacked(const data::Tensor& first, std::size_t rows) {
  wire::Placed out{.info = first.info, .offset = place(first), .size = first.size * rows};
  out.info.shape.push_front(static_cast<std::int64_t>(rows));
  return out;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> stackable(std::span<const data::Tensors> members) {
  std::vector<std::vector<std::uint32_t>> out;
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    const auto group =
        std::find_if(out.begin(), out.end(), [&](const auto& g) { return same_form(members[g.front()], members[m]); });
    if (group != out.end())
      group->push_back(m);
    else
      out.push_back({m});
  }
  return out;
}

Result<Gathered> gather(std::span<const data::Tensors* const> members, data::Arena& arena) {
  Gathered out;
  for (std::size_t t = 0; t < members.front()->size(); ++t) {
    const data::Tensor& first = (*members.front())[t];
    if (first.info.type == DataType::bytes) {  // elements differ in length: one by one, where they are
      for (std::size_t m = 0; m < members.size(); ++m) {
        const data::Tensor& own = (*members[m])[t];
        out.inputs.push_back(
            {.info = own.info, .row = static_cast<std::int32_t>(m), .offset = place(own), .size = own.size});
        out.held.push_back(own.block);
      }
      continue;
    }
    if (adjacent(members, t)) {
      out.inputs.push_back(stacked(first, members.size()));
      for (const data::Tensors* member : members) {
        if (out.held.empty() || out.held.back().offset() != (*member)[t].block.offset())
          out.held.push_back((*member)[t].block);
      }
      continue;
    }
    const auto block = arena.allocate(first.size * members.size());
    if (!block) {
      return Error{ErrorCode::unavailable,
                   str("the object store is full: a batch needs ", first.size * members.size(), " bytes, ",
                       arena.capacity() - arena.used(), " of ", arena.capacity(), " are free")};
    }
    for (std::size_t m = 0; m < members.size(); ++m) {
      std::memcpy(block->data() + m * first.size, (*members[m])[t].bytes().data(), first.size);
    }
    out.copied += first.size * members.size();
    out.inputs.push_back(stacked(first, members.size()));
    out.inputs.back().offset = block->offset();
    out.held.push_back(*block);
  }
  return out;
}

}  // namespace sluice::invoker
