#include "spec/diagnostics.h"

#include <algorithm>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec {

void Diagnostics::error(std::string file, Mark mark, std::string field, std::string message) {
  // A flood costs no memory, and warnings never crowd out errors.
  if (++errors_ > limits::errors_reported_max) return;
  list_.push_back({Diagnostic::Severity::error, std::move(file), mark, std::move(field), std::move(message)});
}

void Diagnostics::warning(std::string file, Mark mark, std::string field, std::string message) {
  if (++warnings_ > limits::errors_reported_max) return;
  list_.push_back({Diagnostic::Severity::warning, std::move(file), mark, std::move(field), std::move(message)});
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
