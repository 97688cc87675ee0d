// `python:` of a function: whose interpreter runs it and what packages have to be there.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "spec/yaml/documents.h"

namespace sluice::spec {
namespace {

constexpr std::string_view kHelp = "write NAME, or NAME and versions as in numpy>=1.20,<3";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_version(std::string_view text) {
  constexpr std::string_view kMarks = ".*+!_-";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_letter_or_digit(c) || kMarks.find(c) != std::string_view::npos;
  });
}

// ">=1.20" as well as "~=2.0"; "===" is no comparison of versions.
bool is_comparison(std::string_view text) {
  constexpr std::array<std::string_view, 7> kOperators = {"==", "!=", ">=", "<=", "~=", ">", "<"};
  const auto* found = std::ranges::find_if(kOperators, [&](std::string_view o) { return text.starts_with(o); });
  return found != kOperators.end() && is_version(text.substr(found->size()));
}

bool is_requirement(std::string_view text) {
  constexpr std::string_view kMarks = "._-";
  std::size_t name = 0;
  while (name < text.size() && (is_letter_or_digit(text[name]) || kMarks.find(text[name]) != std::string_view::npos))
    ++name;
  if (name == 0 || !is_letter_or_digit(text.front()) || !is_letter_or_digit(text[name - 1])) return false;
  text.remove_prefix(name);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (!is_comparison(text.substr(0, end))) return false;
    text.remove_prefix(end);
    if (text == ",") return false;
    if (!text.empty()) text.remove_prefix(1);
  }
  return true;
}

// Without blanks and what a comment says.
std::string plain(std::string_view line) {
  std::string out;
  for (const char c : line.substr(0, line.find('#'))) {
    if (c != ' ' && c != '\t' && c != '\r') out += c;
  }
  return out;
}

std::vector<std::string> read_file_of(const Cursor& cursor, Includes& includes) {
  const auto name = cursor.text();
  if (!name) return {};
  const std::string path = beside(cursor.file(), *name);
  const auto text = includes.text(path, cursor.file(), cursor.mark(), cursor.path());
  std::vector<std::string> out;
  int line = 0;
  for (std::string_view rest = text ? std::string_view(*text) : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string one = plain(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++line;
    if (one.empty()) continue;
    if (is_requirement(one))
      out.push_back(one);
    else
      includes.diagnostics().error(path, {line, 1}, "", str("'", printable(one), "' is not understood; ", kHelp));
  }
  return out;
}

std::vector<std::string> read_list_of(const Cursor& cursor) {
  std::vector<std::string> out;
  for (const Cursor& item : cursor.items()) {
    const std::string one = plain(item.text().value_or(""));
    if (is_requirement(one))
      out.push_back(one);
    else if (!one.empty())
      item.error(str("'", printable(one), "' is not understood; ", kHelp));
  }
  return out;
}

}  // namespace

std::vector<std::string> read_python(const Cursor& python, Includes& includes) {
  Fields fields(python);
  if (!fields.valid()) return {};
  std::string interpreter;
  std::vector<std::string> requirements;
  if (const auto field = fields.optional("venv")) {
    const auto folder = field->text();
    if (folder && !folder->starts_with('/'))
      field->error(
          str("'", printable(*folder), "' is not absolute; the environment is a folder on the server's machine"));
    else if (folder)
      interpreter = str(*folder, folder->ends_with('/') ? "" : "/", "bin/python3");
  }
  if (const auto field = fields.optional("requirements")) {
    const bool file = field->node().kind == Node::Kind::scalar;
    requirements = file ? read_file_of(*field, includes) : read_list_of(*field);
  }
  fields.finish();
  if (interpreter.empty() && requirements.empty()) return {};
  requirements.insert(requirements.begin(), std::move(interpreter));
  return requirements;
}

}  // namespace sluice::spec
