#include "cli/invoke_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "cli/npy.h"
#include "cli/picture.h"
#include "cli/read_file.h"
#include "cli/tensor_text.h"

namespace sluice::cli {
namespace {

using engine::OwnTensor;

Error wrong(std::string message) {
  return {ErrorCode::invalid, std::move(message)};
}

std::string declared_text(const Port& port) {
  return type_text({port.name, port.type, port.shape});
}

bool same(const std::vector<std::int64_t>& declared, std::span<const std::int64_t> given) {
  return std::equal(declared.begin(), declared.end(), given.begin(), given.end(),
                    [](std::int64_t want, std::int64_t have) { return want < 0 || want == have; });
}

// As declared, or with a leading number of rows; how many there may be is the server's to say.
bool fits(const Port& port, const data::TensorInfo& info) {
  const std::span<const std::int64_t> shape = info.shape;
  const bool batched = !shape.empty() && shape.front() >= 1 && same(port.shape, shape.subspan(1));
  return port.type == info.type && (batched || same(port.shape, shape));
}

class Maker {
 public:
  explicit Maker(const std::vector<Port>& declared) : declared_(declared) {}

  Status add_json(const std::string& argument) {
    std::string text = argument;
    if (argument.starts_with('@')) {
      auto content = read_file(argument.substr(1));
      if (!content) return wrong("--data: " + content.error().message);
      text = std::move(*content);
    }
    const auto json = data::parse_json(text);
    if (!json) return wrong("--data: is no JSON: " + json.error().message);
    const auto* object = json->as<data::JsonObject>();
    if (object == nullptr) return wrong(R"(--data: write a JSON object of inputs by name, e.g. {"x": [1, 2]})");
    for (const auto& [name, value] : *object) {
      if (const Status added = add_value(name, value); !added) return added;
    }
    return Done{};
  }

  Status add_file(const std::string& assignment, bool image) {
    const std::string option = image ? "--image" : "--input";
    const auto parts = split_assignment(option, assignment);
    if (!parts) return parts.error();
    const auto& [name, path] = *parts;
    const auto content = read_file(path);
    if (!content) return wrong(fmt::format("{}: {}", option, content.error().message));
    const auto port = find(name);
    if (!port) return port.error();
    auto tensor = image              ? picture_tensor(name, *content)
                  : is_npy(*content) ? decode_npy(name, *content)
                                     : raw_tensor(name, *port, *content);
    if (!tensor) return wrong(fmt::format("{}: {}: {}", option, path, tensor.error().message));
    return add(*port, std::move(*tensor), path, image);
  }

  Result<std::vector<OwnTensor>> finish() {
    for (const Port& port : declared_) {
      const bool given = std::ranges::any_of(out_, [&](const OwnTensor& t) { return t.info.name == port.name; });
      if (!given) {
        return wrong(fmt::format("input '{}', {}, is missing; give it with --data, --input or --image", port.name,
                                 declared_text(port)));
      }
    }
    return std::move(out_);
  }

 private:
  // Null: the model takes anything.
  [[nodiscard]] Result<const Port*> find(const std::string& name) const {
    if (declared_.empty()) return nullptr;
    std::vector<std::string_view> names;
    for (const Port& port : declared_) {
      if (port.name == name) return &port;
      names.push_back(port.name);
    }
    const auto near = nearest(name, names);
    return wrong(fmt::format("there is no input '{}'; the inputs are {}{}", name, fmt::join(names, ", "),
                             near ? fmt::format("; did you mean '{}'?", *near) : ""));
  }

  Status add_value(const std::string& name, const data::Json& value) {
    const auto port = find(name);
    if (!port) return wrong("--data: " + port.error().message);
    if (*port == nullptr) return add(nullptr, engine::tensor_of(name, value), "--data", false);
    auto tensor = engine::tensor_of(**port, value);
    if (!tensor) {
      // Perhaps of the right type, but with a batch dimension, which add() knows about.
      Port any = **port;
      const data::Shape shape = engine::tensor_of(name, value).info.shape;
      any.shape.assign(shape.begin(), shape.end());
      tensor = engine::tensor_of(any, value);
    }
    if (!tensor) {
      return wrong(fmt::format("--data: '{}' is {}, {} is wanted", name, printable(data::to_text(value)),
                               declared_text(**port)));
    }
    return add(*port, std::move(*tensor), "--data", false);
  }

  static Result<OwnTensor> picture_tensor(const std::string& name, const std::string& content) {
    const auto picture = decode_picture(content);
    if (!picture) return picture.error();
    return tensor_of(name, *picture);
  }

  // The bytes of a tensor of declared type; one dimension of any length follows from their number.
  static Result<OwnTensor> raw_tensor(const std::string& name, const Port* port, const std::string& content) {
    if (port == nullptr) return wrong("the model declares no type for it; give an .npy file");
    OwnTensor out{{name, port->type, port->shape}, content};
    if (port->type == DataType::bytes) {
      const auto length = static_cast<std::uint32_t>(content.size());
      out.bytes.insert(0, reinterpret_cast<const char*>(&length), sizeof length);
      out.info.shape = std::vector<std::int64_t>(port->shape.size(), 1);
      return out;
    }
    std::size_t known = data::element_size(port->type);
    std::int64_t* open = nullptr;
    for (std::int64_t& dimension : out.info.shape) {
      if (dimension < 0 && open != nullptr)
        return wrong(fmt::format("{} has more than one open dimension; give an .npy file", declared_text(*port)));
      if (dimension < 0)
        open = &dimension;
      else
        known *= static_cast<std::size_t>(dimension);
    }
    if (open != nullptr && known > 0) *open = static_cast<std::int64_t>(content.size() / known);
    if (data::byte_size(port->type, out.info.shape) != content.size())
      return wrong(fmt::format("has {} bytes, which is not {}", content.size(), declared_text(*port)));
    return out;
  }

  Status add(const Port* port, OwnTensor tensor, const std::string& source, bool image) {
    for (const OwnTensor& other : out_) {
      if (other.info.name == tensor.info.name) return wrong(fmt::format("input '{}' is given twice", tensor.info.name));
    }
    if (port != nullptr && !fits(*port, tensor.info)) {
      return wrong(fmt::format("{} is {}, input '{}' wants {}{}", source, type_text(tensor.info), port->name,
                               declared_text(*port), image ? "; pictures are neither resized nor converted" : ""));
    }
    out_.push_back(std::move(tensor));
    return Done{};
  }

  const std::vector<Port>& declared_;
  std::vector<OwnTensor> out_;
};

}  // namespace

Result<std::pair<std::string, std::string>> split_assignment(const std::string& option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    return wrong(fmt::format("{}: write NAME=FILE instead of '{}'", option, text));
  return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

Result<std::vector<OwnTensor>> make_inputs(const InputArguments& arguments, const std::vector<Port>& declared) {
  Maker maker(declared);
  if (!arguments.data.empty()) {
    if (const Status added = maker.add_json(arguments.data); !added) return added.error();
  }
  for (const std::string& input : arguments.inputs) {
    if (const Status added = maker.add_file(input, false); !added) return added.error();
  }
  for (const std::string& image : arguments.images) {
    if (const Status added = maker.add_file(image, true); !added) return added.error();
  }
  return maker.finish();
}

}  // namespace sluice::cli
