#include "spec/include.h"

#include <filesystem>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/yaml/reader.h"

namespace sluice::spec {

std::optional<std::string> Includes::text(const std::string& path, const std::string& from, Mark at,
                                          const std::string& field) {
  if (++count_ > limits::included_files_max) {
    out_.error(from, at, field, str("more than ", limits::included_files_max, " files are named"));
    return std::nullopt;
  }
  auto read = read_(path);
  if (!read) {
    out_.error(from, at, field, read.error().message);
    return std::nullopt;
  }
  if (!valid_utf8(*read)) {
    out_.error(from, at, field, str(path, " is not text in UTF-8"));
    return std::nullopt;
  }
  return std::move(read).value();
}

std::optional<Node> Includes::yaml(const std::string& path, const std::string& from, Mark at,
                                   const std::string& field) {
  const auto content = text(path, from, at, field);
  if (!content) return std::nullopt;
  return read_yaml(*content, path, out_);
}

std::string beside(const std::string& from, const std::string& name) {
  return (std::filesystem::path(from).parent_path() / name).lexically_normal().string();
}

std::string relative_to(const std::string& from, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(from).parent_path();
  if (folder.empty() || std::filesystem::path(path).is_absolute() != folder.is_absolute()) return path;
  return std::filesystem::path(path).lexically_relative(folder).string();
}

}  // namespace sluice::spec
