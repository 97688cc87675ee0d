#include "data/tensor_blob.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/save.h"
#include "base/text.h"
#include "domain/limits.h"

namespace sluice::data {
namespace {

static_assert(std::endian::native == std::endian::little, "blobs are little-endian");

constexpr std::uint32_t kFormat = 1;

struct Entry {
  TensorInfo info;
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

Result<Tensor> load_tensor(const Entry& entry, std::string_view bytes, Arena& arena) {
  Tensor out{.info = entry.info, .size = bytes.size()};
  if (entry.info.shape.size() > limits::tensor_rank_max || !index_texts(out, std::as_bytes(std::span(bytes)))) {
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

// All that comes before the bytes of the tensors.
std::string head_of(const Tensors& tensors) {
  std::vector<Entry> entries;
  for (const Tensor& tensor : tensors) entries.push_back({tensor.info, tensor.size});
  std::string header, out;
  save(entries, header);
  save(Prefix{.header_size = static_cast<std::uint32_t>(header.size())}, out);
  return out + header;
}

std::string_view text_of(const Tensor& tensor) {
  if (tensor.size == 0) return {};
  return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.size};
}

}  // namespace

std::string to_blob(const Tensors& tensors) {
  std::string blob = head_of(tensors);
  std::size_t total = blob.size();
  for (const Tensor& tensor : tensors) total += tensor.size;
  blob.reserve(total);
  for (const Tensor& tensor : tensors) blob += text_of(tensor);
  return blob;
}

BlobParts::BlobParts(std::shared_ptr<const Tensors> tensors)
    : tensors_(std::move(tensors)), head_(head_of(*tensors_)), size_(head_.size()) {
  for (const Tensor& tensor : *tensors_) size_ += tensor.size;
}

std::string BlobParts::part(std::uint64_t offset, std::size_t most) const {
  std::string out;
  const auto take = [&](std::string_view bytes) {
    if (offset < bytes.size()) out += bytes.substr(static_cast<std::size_t>(offset), most - out.size());
    offset -= std::min<std::uint64_t>(offset, bytes.size());
  };
  take(head_);
  for (const Tensor& tensor : *tensors_) {
    if (out.size() < most) take(text_of(tensor));
  }
  return out;
}

Result<Tensors> from_blob(std::string_view blob, Arena& arena) {
  const auto entries = take_header(blob);
  if (!entries) return entries.error();
  Tensors tensors;
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

}  // namespace sluice::data
