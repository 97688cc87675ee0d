#include "cli/deployment_files.h"

#include <filesystem>

#include "base/text.h"
#include "cli/read_file.h"
#include "spec/include.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

fs::path absolute(const std::string& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).lexically_normal();
}

Status add_models(const spec::Loaded& loaded, const Application& application,
                  std::map<std::string, std::string>& files) {
  for (const Function& function : application.functions) {
    for (const std::optional<Body>* body : {&function.cpu, &function.gpu}) {
      if (!*body || (*body)->model.empty()) continue;
      const std::string& model = (*body)->model;
      const std::string where = str(loaded.file, ": function '", function.name, "': model: ");
      if (fs::path(model).is_absolute()) {
        return Error{ErrorCode::invalid, str(where, "'", model,
                                             "' is an absolute path; name files relative to the document, so that they "
                                             "can be sent with it")};
      }
      const std::string path = spec::beside(loaded.file, model);
      if (files.contains(path)) continue;
      auto content = read_file(path);
      if (!content) return Error{content.error().code, str(where, content.error().message)};
      files.emplace(path, std::move(*content));
    }
  }
  return Done{};
}

// A Triton ensemble is named by its folder, so that has to be part of its path.
fs::path folder_of_all(const spec::Loaded& loaded, const std::map<std::string, std::string>& files) {
  fs::path folder = absolute(loaded.file).parent_path();
  if (loaded.format == spec::Format::triton) folder = folder.parent_path();
  const auto outside = [&](const std::string& path) {
    return *absolute(path).lexically_relative(folder).begin() == "..";
  };
  for (const auto& [path, content] : files) {
    while (outside(path)) folder = folder.parent_path();
  }
  return folder;
}

}  // namespace

spec::ReadFile RecordingReader::reader() {
  return [this](const std::string& path) {
    auto content = spec::read_from_disk(path);
    if (content) files_.insert_or_assign(path, *content);
    return content;
  };
}

Result<DeploymentFiles> collect(const spec::Loaded& loaded, const Application& application,
                                const RecordingReader& read) {
  std::map<std::string, std::string> files = read.files();
  if (const Status added = add_models(loaded, application, files); !added) return added.error();
  const fs::path folder = folder_of_all(loaded, files);
  const auto relative = [&](const std::string& path) {
    return absolute(path).lexically_relative(folder).generic_string();
  };
  DeploymentFiles out{.main = relative(loaded.file)};
  for (auto& [path, content] : files) out.files.insert_or_assign(relative(path), std::move(content));
  return out;
}

}  // namespace sluice::cli
