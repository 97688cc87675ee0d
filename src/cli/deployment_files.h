// A document with every file it names, as a deployment carries them: paths relative to one folder, contents in memory.
#pragma once
#include <map>
#include <string>

#include "base/result.h"
#include "spec/load.h"

namespace sluice::cli {

struct DeploymentFiles {
  std::string main;                          // the path of the document
  std::map<std::string, std::string> files;  // by path
};

// Files that were read, by path, while a document was loaded.
class RecordingReader {
 public:
  [[nodiscard]] spec::ReadFile reader();
  [[nodiscard]] const std::map<std::string, std::string>& files() const { return files_; }

 private:
  std::map<std::string, std::string> files_;
};

// What was read for `application`, and the model files that its functions name. An error says which file is missing.
// The folder is the document's, or the nearest above it that holds all of them.
[[nodiscard]] Result<DeploymentFiles> collect(const spec::Loaded& loaded, const Application& application,
                                              const RecordingReader& read);

}  // namespace sluice::cli
