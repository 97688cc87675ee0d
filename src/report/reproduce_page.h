// The page of `sluice reproduce --html`: web/reproduce.html and what it includes, as the build puts it into the
// program, with the rows where {{data}} stands.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "reproduce/row.h"

namespace sluice::report {

extern const std::string_view kReproducePage;
[[nodiscard]] std::string reproduce_html(std::string_view paper, std::span<const reproduce::Row> rows);

}  // namespace sluice::report
