// The profile as CSV: `batch,vcpu,vgpu,mean_ms,sd_ms` and optionally `device,size,busy_mean_ms`, in the order of the
// header. Text in, rows out; files are opened elsewhere. Blank lines and lines that start with # are skipped.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "domain/profile.h"

namespace sluice::spec {

struct CsvError {
  int line = 0, column = 0;  // from 1; the column counts bytes
  std::string message;
  friend bool operator==(const CsvError&, const CsvError&) = default;
};

struct ProfileCsv {
  ProfileTable table;            // to be used only if ok()
  std::vector<CsvError> errors;  // by line and column, at most limits::errors_reported_max
  [[nodiscard]] bool ok() const { return errors.empty(); }
};

// A table without problems (domain/profile_rules.h), or every error. Where `device` is absent or blank it is "cpu" for
// vgpu 0 and "gpu" otherwise; a blank size is 1.
[[nodiscard]] ProfileCsv read_profile_csv(std::string_view text);

// A form that read_profile_csv reads back to the same table; optional columns only where some row needs them.
// REQUIRES: problems_of(table) is empty.
[[nodiscard]] std::string write_profile_csv(const ProfileTable& table);

}  // namespace sluice::spec
