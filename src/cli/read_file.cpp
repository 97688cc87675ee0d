#include "cli/read_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace sluice::cli {

Result<std::string> read_file(const std::string& path) {
  constexpr std::uintmax_t kBytesMax = 1u << 30;
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed))
    return Error{ErrorCode::not_found, str("there is no file ", path)};
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed || size > kBytesMax)
    return Error{ErrorCode::too_large, str(path, " has ", size, " bytes, at most ", kBytesMax, " are read")};
  std::string content(size, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(content.data(), static_cast<std::streamsize>(size));
  if (!stream) return Error{ErrorCode::io, str(path, " cannot be read; check its permissions")};
  return content;
}

Status write_file(const std::string& path, std::string_view content) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (!stream) return Error{ErrorCode::io, str(path, " cannot be written: ", std::strerror(errno))};
  return Done{};
}

}  // namespace sluice::cli
