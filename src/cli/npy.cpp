#include "cli/npy.h"

#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::array<std::pair<std::string_view, DataType>, 12> kTypes = {{{"|b1", DataType::boolean},
                                                                           {"|u1", DataType::uint8},
                                                                           {"<u2", DataType::uint16},
                                                                           {"<u4", DataType::uint32},
                                                                           {"<u8", DataType::uint64},
                                                                           {"|i1", DataType::int8},
                                                                           {"<i2", DataType::int16},
                                                                           {"<i4", DataType::int32},
                                                                           {"<i8", DataType::int64},
                                                                           {"<f2", DataType::fp16},
                                                                           {"<f4", DataType::fp32},
                                                                           {"<f8", DataType::fp64}}};

Error wrong(std::string_view what) {
  return {ErrorCode::invalid, str("the .npy file ", what)};
}

// What follows 'KEY': in the header, up to its end.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t found = header.find(str("'", key, "'"));
  const std::size_t colon = found == std::string_view::npos ? found : header.find(':', found);
  if (colon == std::string_view::npos) return {};
  const std::size_t begin = header.find_first_not_of(' ', colon + 1);
  return begin == std::string_view::npos ? std::string_view() : header.substr(begin);
}

std::optional<DataType> type_of(std::string_view value) {
  for (const auto& [name, type] : kTypes) {
    if (value.substr(0, 5) == str("'", name, "'")) return type;
  }
  return std::nullopt;
}

// "(3, 4), …" as numbers.
std::optional<std::vector<std::int64_t>> shape_of(std::string_view value) {
  const std::size_t end = value.find(')');
  if (!value.starts_with('(') || end == std::string_view::npos) return std::nullopt;
  std::vector<std::int64_t> out;
  std::string_view rest = value.substr(1, end - 1);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view word = rest.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (word.empty() && rest.empty()) break;  // after the last comma
    const auto dimension = parse_int(word);
    if (!dimension || *dimension < 0 || out.size() >= limits::tensor_rank_max) return std::nullopt;
    out.push_back(*dimension);
  }
  return out;
}

// The header and how many bytes are before the numbers.
std::optional<std::pair<std::string_view, std::size_t>> header_of(std::string_view file) {
  const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(file[i])}; };
  if (file.size() < 12) return std::nullopt;
  const bool old = file[6] == 1;
  const std::size_t length =
      old ? byte(8) | byte(9) << 8u : byte(8) | byte(9) << 8u | byte(10) << 16u | byte(11) << 24u;
  const std::size_t begin = old ? 10 : 12;
  if (length > file.size() - begin) return std::nullopt;
  return std::pair{file.substr(begin, length), begin + length};
}

}  // namespace

bool is_npy(std::string_view file) {
  return file.starts_with(kMagic);
}

Result<engine::OwnTensor> decode_npy(const std::string& name, std::string_view file) {
  const auto header = header_of(file);
  if (!header) return wrong("is cut off");
  const auto type = type_of(value_of(header->first, "descr"));
  if (!type) {
    return wrong(str("has elements of type ", printable(value_of(header->first, "descr").substr(0, 10)),
                     "…; numbers and booleans in little-endian order are read"));
  }
  if (!value_of(header->first, "fortran_order").starts_with("False"))
    return wrong("is in Fortran order; save numpy.ascontiguousarray(x)");
  auto shape = shape_of(value_of(header->first, "shape"));
  if (!shape) return wrong("has no shape");
  engine::OwnTensor out{{name, *type, *shape}, std::string(file.substr(header->second))};
  const auto bytes = data::byte_size(*type, out.info.shape);
  if (bytes != out.bytes.size())
    return wrong(str("has ", out.bytes.size(), " bytes of numbers, its shape asks for ", bytes.value_or(0)));
  return out;
}

Result<std::string> encode_npy(const engine::OwnTensor& tensor) {
  std::string_view type;
  for (const auto& [name, of] : kTypes) {
    if (of == tensor.info.type) type = name;
  }
  if (type.empty()) {
    return Error{ErrorCode::invalid, str("output '", tensor.info.name, "' is ", name_of(tensor.info.type),
                                         ", which .npy files cannot hold; write it to a file with another ending")};
  }
  std::string header = str("{'descr': '", type, "', 'fortran_order': False, 'shape': (");
  for (const std::int64_t dimension : tensor.info.shape) header += str(dimension, ", ");
  header += "), }";
  constexpr std::size_t kAlignment = 64, kBefore = 10;
  while ((kBefore + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(static_cast<unsigned char>(header.size() & 255u));
  out += static_cast<char>(static_cast<unsigned char>(header.size() >> 8u));
  return out + header + tensor.bytes;
}

}  // namespace sluice::cli
