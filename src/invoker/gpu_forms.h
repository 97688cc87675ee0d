// The forms that functions were found to be best in on the GPUs of a machine, by their tenant and what they load: what
// the worker of one says is of no concern to another. Finding one takes most of a second, so that they are kept over
// restarts, as text: a line for each.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "domain/function.h"
#include "domain/gpu_form.h"

namespace sluice::invoker {

inline constexpr std::size_t gpu_forms_max = 10'000;
using GpuForms = std::map<std::pair<std::string, FunctionVersion>, GpuForm>;  // by tenant and code_of()

[[nodiscard]] std::string to_text(const GpuForms& forms);
// Lines that make no sense are left out: what they were about is found out again.
[[nodiscard]] GpuForms gpu_forms_of(std::string_view text);

}  // namespace sluice::invoker
