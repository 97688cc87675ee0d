// The forms that functions were found to be best in on the GPUs of a machine, by what they load. Finding one takes most
// of a second, so that they are kept over restarts, as text: a line for each.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "domain/function.h"
#include "domain/gpu_form.h"

namespace sluice::invoker {

using GpuForms = std::map<FunctionVersion, GpuForm>;

[[nodiscard]] std::string to_text(const GpuForms& forms);
// Lines that make no sense are left out: what they were about is found out again.
[[nodiscard]] GpuForms gpu_forms_of(std::string_view text);

}  // namespace sluice::invoker
