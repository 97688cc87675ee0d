#include "gateway/deployment.h"

#include <simdjson.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "gateway/base64.h"
#include "gateway/invalid.h"

namespace sluice::gateway {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kFilesMax = 1000, kPathBytesMax = 255;

Error no_deployment(simdjson::error_code error) {
  return invalid(str("this is no deployment: ", simdjson::error_message(error),
                     R"(; expected {"main": PATH, "files": [{"path": PATH, "base64": TEXT}]})"));
}

Status check_path(std::string_view path) {
  const auto refuse = [&](std::string_view why) {
    return invalid(str("file '", printable(path, kPathBytesMax), "' is refused: ", why));
  };
  if (path.empty()) return refuse("its path is empty");
  if (path.size() > kPathBytesMax) return refuse(str("its path is longer than ", kPathBytesMax, " bytes"));
  if (path.front() == '/') return refuse("its path is absolute");
  if (!valid_utf8(path) || std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
    return refuse("its path has characters that no file should have");
  }
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part == "..") return refuse("its path leaves the folder");
    if (part.empty() || part == ".") return refuse("its path is not in its plain form");
    at = end + 1;
  }
  return Done{};
}

Status read_file(ondemand::object object, live::Deployment& out) {
  live::Deployment::File file;
  bool has_content = false;
  for (auto field : object) {
    std::string_view key, text;
    if (const auto error = field.unescaped_key().get(key)) return no_deployment(error);
    if (key != "path" && key != "base64") continue;
    if (const auto error = field.value().get_string().get(text)) return no_deployment(error);
    if (key == "path") {
      file.path = text;
      continue;
    }
    auto content = from_base64(text);
    if (!content) return invalid(str("file '", printable(file.path), "' is not base64"));
    file.content = *std::move(content);
    has_content = true;
  }
  if (Status done = check_path(file.path); !done) return done;
  if (!has_content) return invalid(str("file '", file.path, "' has no 'base64'"));
  if (std::ranges::find(out.files, file.path, &live::Deployment::File::path) != out.files.end()) {
    return invalid(str("file '", file.path, "' is there twice"));
  }
  if (out.files.size() == kFilesMax) return invalid(str("more than ", kFilesMax, " files"));
  out.files.push_back(std::move(file));
  return Done{};
}

Status read_files(ondemand::array files, live::Deployment& out) {
  for (auto element : files) {
    ondemand::object object;
    if (const auto error = element.get_object().get(object)) return no_deployment(error);
    if (Status done = read_file(object, out); !done) return done;
  }
  return Done{};
}

Status read_root(ondemand::object root, live::Deployment& out) {
  for (auto field : root) {
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return no_deployment(error);
    if (key == "main") {
      std::string_view main;
      if (const auto error = field.value().get_string().get(main)) return no_deployment(error);
      out.main = main;
    } else if (key == "files") {
      ondemand::array files;
      if (const auto error = field.value().get_array().get(files)) return no_deployment(error);
      if (Status done = read_files(files, out); !done) return done;
    }
  }
  return Done{};
}

}  // namespace

Result<live::Deployment> read_deployment(std::string_view body) {
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object root;
  const std::size_t readable = body.size() + simdjson::SIMDJSON_PADDING;
  if (const auto error = parser.iterate(body.data(), body.size(), readable).get(document)) return no_deployment(error);
  if (const auto error = document.get_object().get(root)) return no_deployment(error);
  live::Deployment out;
  if (Status done = read_root(root, out); !done) return done.error();
  if (out.main.empty()) return invalid("'main' is missing: the path of the document among the files");
  if (std::ranges::find(out.files, out.main, &live::Deployment::File::path) == out.files.end()) {
    return invalid(str("'main' is '", printable(out.main), "', which is not among the files"));
  }
  return out;
}

}  // namespace sluice::gateway
