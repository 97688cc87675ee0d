// Prometheus text (version 0.0.4): families of samples with labels. Used by metrics.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/json_text.h"

namespace sluice::gateway {

using Label = std::pair<std::string_view, std::string_view>;

// # HELP and # TYPE.
void begin_family(std::string& out, std::string_view name, std::string_view type, std::string_view help);
// name{labels} without a value.
void append_series(std::string& out, std::string_view name, std::initializer_list<Label> labels);

void append_value(std::string& out, double value);  // Prometheus knows +Inf and NaN
template <std::integral T>
void append_value(std::string& out, T value) {
  append_json(out, value);
}

template <class T>
void append_sample(std::string& out, std::string_view name, std::initializer_list<Label> labels, T value) {
  append_series(out, name, labels);
  out += ' ';
  append_value(out, value);
  out += '\n';
}

}  // namespace sluice::gateway
