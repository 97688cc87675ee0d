// Readers of what ASL fields have in common: paths, texts, seconds, lists of errors, and features that are refused.
#pragma once
#include <span>
#include <string_view>

#include "spec/asl/machine.h"
#include "spec/cursor.h"

namespace sluice::spec::asl {

// A state, or a part of one, being read.
struct Part {
  const Cursor& cursor;
  Fields& fields;
};

// A field of ASL that Sluice does not have, and what a user may do instead.
struct Refused {
  std::string_view field, why;
};
void refuse(const Part& part, std::span<const Refused> list);

// Text in quotes, may be empty; nothing with an error if it is anything else.
[[nodiscard]] std::optional<std::string> quoted(const Cursor& cursor);
// A path, not looked into yet. Where nothing can be read, its text is empty and the error reported.
[[nodiscard]] Name path(const Cursor& cursor);
// The name of a state in field `name`, if the field is there; empty if it cannot be read.
[[nodiscard]] std::optional<Target> target(Fields& fields, std::string_view name);
// Whole seconds from `low` to limits::duration_max.
[[nodiscard]] std::optional<std::int64_t> seconds(const Cursor& cursor, std::int64_t low);
// InputPath and OutputPath: read, and refused unless they are "$".
void whole_document_only(Fields& fields);
void read_parameters(Fields& fields, State& state);
void read_result_path(Fields& fields, State& state);
// The names in ErrorEquals; "States.ALL" must stand alone.
[[nodiscard]] std::vector<Name> error_names(Fields& fields);
inline constexpr std::string_view kAllErrors = "States.ALL";

}  // namespace sluice::spec::asl
