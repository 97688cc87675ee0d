// What is wrong with a document: all of it, each with file, line, column, field and what would help.
#pragma once
#include <string>
#include <vector>

#include "spec/tree.h"

namespace sluice::spec {

struct Diagnostic {
  enum class Severity { error, warning };
  Severity severity = Severity::error;
  std::string file;
  Mark mark;
  std::string field;  // "slo.latency"; empty: the document
  std::string message;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

class Diagnostics {
 public:
  void error(std::string file, Mark mark, std::string field, std::string message);
  void warning(std::string file, Mark mark, std::string field, std::string message);
  [[nodiscard]] bool has_errors() const { return errors_ > 0; }
  [[nodiscard]] std::size_t errors() const { return errors_; }  // counted, also past the limit
  // At most limits::errors_reported_max of each severity, sorted by file in order of first mention, then position.
  [[nodiscard]] std::vector<Diagnostic> sorted() const;

 private:
  std::vector<Diagnostic> list_;
  std::size_t errors_ = 0, warnings_ = 0;
};

// "app.yaml:3:9: error: slo.latency: …", the way compilers write it, so that editors jump there.
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

}  // namespace sluice::spec
