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

// Who reads: none is in the memory of the machine.
using Reader = std::optional<ProcessId>;

// What holds a tensor on the reader's GPU; null: it is read where it lies in the arena.
const data::Kept* on_device(const data::Tensor& tensor, Reader reader) {
  return reader && tensor.kept != nullptr && tensor.kept->place().keeper == reader->value() ? tensor.kept.get()
                                                                                            : nullptr;
}

// Whether the tensors lie one after the other, also on the reader's GPU: different outputs that it keeps are apart
// there, whatever their places.
bool adjacent(std::span<const data::Tensors* const> members, std::size_t tensor, Reader reader) {
  for (std::size_t m = 1; m < members.size(); ++m) {
    const data::Tensor& before = (*members[m - 1])[tensor];
    const data::Tensor& own = (*members[m])[tensor];
    if (place(before) + before.size != place(own)) return false;
    if (on_device(before, reader) != on_device(own, reader)) return false;
  }
  return true;
}

std::int32_t device_of(const data::Tensor& tensor, Reader reader) {
  return on_device(tensor, reader) == nullptr ? wire::kHost : 0;
}

wire::Placed stacked(const data::Tensor& first, std::size_t rows) {
  wire::Placed out{.info = first.info, .offset = place(first), .size = first.size * rows};
  out.info.shape.push_front(static_cast<std::int64_t>(rows));
  return out;
}

// One by one, where they are.
void add_rows(std::span<const data::Tensors* const> members, std::size_t tensor, Reader reader, Gathered& out) {
  for (std::size_t m = 0; m < members.size(); ++m) {
    const data::Tensor& own = (*members[m])[tensor];
    out.inputs.push_back({.info = own.info,
                          .row = static_cast<std::int32_t>(m),
                          .offset = place(own),
                          .size = own.size,
                          .device = device_of(own, reader)});
    out.held.push_back(own.block);
  }
}

// False: they do not lie one after the other.
bool add_stacked(std::span<const data::Tensors* const> members, std::size_t tensor, Reader reader, Gathered& out) {
  if (!adjacent(members, tensor, reader)) return false;
  out.inputs.push_back(stacked((*members.front())[tensor], members.size()));
  out.inputs.back().device = device_of((*members.front())[tensor], reader);
  for (const data::Tensors* member : members) {
    const data::Block& block = (*member)[tensor].block;
    if (out.held.empty() || out.held.back().offset() != block.offset()) out.held.push_back(block);
  }
  return true;
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
    if (first.info.type == DataType::bytes) {  // elements differ in length
      add_rows(members, t, std::nullopt, out);
      continue;
    }
    if (add_stacked(members, t, std::nullopt, out)) continue;
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

Gathered as_they_lie(std::span<const data::Tensors* const> members, ProcessId worker) {
  Gathered out;
  for (std::size_t t = 0; t < members.front()->size(); ++t) {
    const bool texts = (*members.front())[t].info.type == DataType::bytes;
    if (texts || !add_stacked(members, t, worker, out)) add_rows(members, t, worker, out);
  }
  return out;
}

}  // namespace sluice::invoker
