// Writes TorchScript models: make_model SOCKET, where every message is `FILE\nSCRIPT` and is answered once the file is
// there. SCRIPT defines forward. A model has what a small network needs: `filter` of ones, 4×3×3×3, and `mean` 7,
// `variance` 4, `scale` 1 and `shift` 0 of 4 channels, and a module `inner` that gives twice its input. Tests have no
// Python with torch, and libtorch takes long to load.
#include <sys/socket.h>
#include <torch/script.h>

#include <cstdlib>
#include <string>

namespace {

void write_model(const std::string& path, const std::string& script) {
  torch::jit::Module module("Model");
  module.register_attribute("training", c10::BoolType::get(), true);
  module.register_parameter("filter", at::ones({4, 3, 3, 3}), false);
  module.register_parameter("scale", at::ones({4}), false);
  module.register_parameter("shift", at::zeros({4}), false);
  module.register_buffer("mean", at::full({4}, 7.0));
  module.register_buffer("variance", at::full({4}, 4.0));
  torch::jit::Module inner("Inner");
  inner.register_attribute("training", c10::BoolType::get(), true);
  inner.define("def forward(self, x):\n  return self.twice(x)\ndef twice(self, x):\n  return x * 2\n");
  module.register_module("inner", inner);
  module.define(script);
  module.save(path);
}

}  // namespace

int main(int, char** argv) {
  const int socket = std::atoi(argv[1]);
  std::string message(1 << 16, '\0');
  for (ssize_t length = 0; (length = ::recv(socket, message.data(), message.size(), 0)) > 0;) {
    const std::string text = message.substr(0, static_cast<std::size_t>(length));
    const std::size_t end = text.find('\n');
    write_model(text.substr(0, end), text.substr(end + 1));
    if (::send(socket, "", 1, 0) != 1) return 1;
  }
}
