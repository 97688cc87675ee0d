#include "cli/invoke_outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/invoke_inputs.h"
#include "cli/npy.h"
#include "cli/picture.h"
#include "cli/png.h"
#include "cli/read_file.h"
#include "cli/tensor_text.h"
#include "cli/terminal.h"

namespace sluice::cli {
namespace {

using engine::OwnTensor;

Result<std::string> encoded(const std::string& path, const OwnTensor& tensor) {
  if (path.ends_with(".png")) {
    const auto picture = picture_of(tensor);
    if (!picture) return picture.error();
    return encode_png(*picture);
  }
  if (path.ends_with(".npy")) return encode_npy(tensor);
  if (tensor.info.type == DataType::bytes) {
    const auto texts = texts_of(tensor);
    if (texts.size() == 1) return texts.front();
  }
  return tensor.bytes;
}

}  // namespace

std::string outputs_text(const std::vector<OwnTensor>& outputs) {
  Table table({"output", "type", "value"});
  for (const OwnTensor& output : outputs) table.add({output.info.name, type_text(output.info), value_text(output)});
  return outputs.empty() ? "  no outputs\n" : table.text("  ");
}

Result<std::string> write_output(const std::string& assignment, const std::vector<OwnTensor>& outputs) {
  const auto parts = split_assignment("--output", assignment);
  if (!parts) return parts.error();
  const auto& [name, path] = *parts;
  const auto same = [&wanted = name](const OwnTensor& output) { return output.info.name == wanted; };
  const auto found = std::ranges::find_if(outputs, same);
  if (found == outputs.end()) {
    std::vector<std::string> names;
    for (const OwnTensor& output : outputs) names.push_back(output.info.name);
    return Error{ErrorCode::not_found,
                 fmt::format("--output: there is no output '{}'; the outputs are {}", name, fmt::join(names, ", "))};
  }
  const auto content = encoded(path, *found);
  if (!content) return content.error();
  if (const Status written = write_file(path, *content); !written) return written.error();
  return fmt::format("wrote {} to {}, {} bytes", name, path, content->size());
}

}  // namespace sluice::cli
