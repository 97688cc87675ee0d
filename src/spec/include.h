// Files that a document names: found beside it, read once each, bounded in number.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/cursor.h"
#include "spec/draft.h"
#include "spec/load.h"

namespace sluice::spec {

class Includes {
 public:
  Includes(const ReadFile& read, Diagnostics& out) : read_(read), out_(out) {}
  [[nodiscard]] Diagnostics& diagnostics() const { return out_; }
  // The text of the file `name` beside `from`; nothing, with the error at `at`, if it cannot be had.
  [[nodiscard]] std::optional<std::string> text(const std::string& path, const std::string& from, Mark at,
                                                const std::string& field);
  // The file parsed as YAML.
  [[nodiscard]] std::optional<Node> yaml(const std::string& path, const std::string& from, Mark at,
                                         const std::string& field);
  [[nodiscard]] const ReadFile& reader() const { return read_; }

 private:
  const ReadFile& read_;
  Diagnostics& out_;
  std::size_t count_ = 0;
};

// `name`, as written in the file `from`, seen from where `from` is seen: "a/app.yaml" and "b.yaml" give "a/b.yaml".
[[nodiscard]] std::string beside(const std::string& from, const std::string& name);
// `path` as seen from the folder of `from`; the reverse of beside().
[[nodiscard]] std::string relative_to(const std::string& from, const std::string& path);

}  // namespace sluice::spec
