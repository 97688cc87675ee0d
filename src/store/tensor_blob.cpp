#include "store/tensor_blob.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/save.h"
#include "base/text.h"
#include "domain/limits.h"

namespace sluice::store {
namespace {

static_assert(std::endian::native == std::endian::little, "blobs are little-endian");

constexpr std::uint32_t kFormat = 1;

struct Entry {
  data::TensorInfo info;
  std::uint64_t size = 0;
  void visit(auto& archive) { archive(info, size); }
};

struct Prefix {
  std::uint32_t format = kFormat;
  std::uint32_t header_size = 0;
  void visit(auto& archive) { archive(format, header_size); }
};
constexpr std::size_t kPrefixBytes = 8;

Error damaged(std::string_view what) {
  return {ErrorCode::invalid, str("kept tensors are damaged: ", what)};
}

// The entries at the front of `blob`, which is left with the bytes of the tensors.
Result<std::vector<Entry>> take_header(std::string_view& blob) {
  const auto prefix = load<Prefix>(blob.substr(0, kPrefixBytes));
  if (!prefix || prefix->format != kFormat) return damaged("they do not begin as such");
  blob.remove_prefix(kPrefixBytes);
  if (prefix->header_size > blob.size()) return damaged("they are cut off");
  auto entries = load<std::vector<Entry>>(blob.substr(0, prefix->header_size));
  if (!entries) return damaged("their header makes no sense");
  blob.remove_prefix(prefix->header_size);
  return *std::move(entries);
}

Result<data::Tensor> load_tensor(const Entry& entry, std::string_view bytes, data::Arena& arena) {
  data::Tensor out{.info = entry.info, .size = bytes.size()};
  if (entry.info.shape.size() > limits::tensor_rank_max || !data::index_texts(out, std::as_bytes(std::span(bytes)))) {
    return damaged(str(printable(entry.info.name), " does not have the bytes of its shape"));
  }
  auto block = arena.allocate(bytes.size());
  if (!block) {
    return Error{ErrorCode::unavailable,
                 str("no room for ", bytes.size(), " bytes of ", printable(entry.info.name), " in shared memory (",
                     arena.used(), " of ", arena.capacity(), " bytes are taken)")};
  }
  if (!bytes.empty()) std::memcpy(block->data(), bytes.data(), bytes.size());
  out.block = *std::move(block);
  return out;
}

}  // namespace

std::string to_blob(const data::Tensors& tensors) {
  std::vector<Entry> entries;
  std::size_t total = 0;
  for (const data::Tensor& tensor : tensors) {
    entries.push_back({tensor.info, tensor.size});
    total += tensor.size;
  }
  std::string header, blob;
  save(entries, header);
  save(Prefix{.header_size = static_cast<std::uint32_t>(header.size())}, blob);
  blob.reserve(blob.size() + header.size() + total);
  blob += header;
  for (const data::Tensor& tensor : tensors) {
    if (tensor.size > 0) blob.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.size);
  }
  return blob;
}

Result<data::Tensors> from_blob(std::string_view blob, data::Arena& arena) {
  const auto entries = take_header(blob);
  if (!entries) return entries.error();
  data::Tensors tensors;
  for (const Entry& entry : *entries) {
    if (entry.size > blob.size()) return damaged("they are cut off");
    auto tensor = load_tensor(entry, blob.substr(0, entry.size), arena);
    if (!tensor) return tensor.error();
    tensors.push_back(std::move(tensor).value());
    blob.remove_prefix(entry.size);
  }
  if (!blob.empty()) return damaged("more follows than their header says");
  return tensors;
}

}  // namespace sluice::store
