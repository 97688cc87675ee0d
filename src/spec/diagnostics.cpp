#include "spec/diagnostics.h"

#include <algorithm>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec {

void Diagnostics::error(std::string file, Mark mark, std::string field, std::string message) {
  ++errors_;
  add({Diagnostic::Severity::error, std::move(file), mark, std::move(field), std::move(message)});
}

void Diagnostics::warning(std::string file, Mark mark, std::string field, std::string message) {
  add({Diagnostic::Severity::warning, std::move(file), mark, std::move(field), std::move(message)});
}

void Diagnostics::add(Diagnostic diagnostic) {
  // One more than is shown, so that a flood of errors costs no memory and the caller still sees that there are more.
  if (list_.size() <= limits::errors_reported_max) list_.push_back(std::move(diagnostic));
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<std::string> files;  // in order of first mention
  for (const Diagnostic& d : list_) {
    if (std::find(files.begin(), files.end(), d.file) == files.end()) files.push_back(d.file);
  }
  const auto rank = [&](const Diagnostic& d) { return std::find(files.begin(), files.end(), d.file) - files.begin(); };
  std::vector<Diagnostic> out = list_;
  std::stable_sort(out.begin(), out.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(rank(a), a.mark) < std::pair(rank(b), b.mark);
  });
  if (out.size() > limits::errors_reported_max) out.resize(limits::errors_reported_max);
  return out;
}

std::string to_string(const Diagnostic& d) {
  std::string out = d.file;
  if (d.mark.line > 0) out += str(":", d.mark.line, ":", d.mark.column);
  out += d.severity == Diagnostic::Severity::error ? ": error: " : ": warning: ";
  if (!d.field.empty()) out += str(d.field, ": ");
  return out + d.message;
}

}  // namespace sluice::spec
