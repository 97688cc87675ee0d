// `sluice init`: a folder with a document, a function and a request, to begin with. They are copies of the examples
// that the tests deploy, so that what begins here works.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "cli/commands.h"
#include "cli/read_file.h"
#include "cli/run_program.h"
#include "cli/terminal.h"
#include "cli/worker_path.h"
#include "spec/cursor.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

// The document's first field that is not a comment.
std::string with_name(const std::string& document, const std::string& name) {
  constexpr std::string_view kField = "application: ";
  const std::size_t begin = document.find(kField);
  if (begin == std::string::npos) return document;
  const std::size_t end = document.find('\n', begin);
  return document.substr(0, begin) + fmt::format("{}{}", kField, name) + document.substr(end);
}

Result<std::vector<std::string>> copy_files(const fs::path& from, const fs::path& to, const std::string& name) {
  std::vector<std::string> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(from, failed)) {
    if (entry.is_regular_file()) out.push_back(entry.path().filename().string());
  }
  std::ranges::sort(out);
  for (const std::string& file : out) {
    auto content = read_file((from / file).string());
    if (!content) return content.error();
    if (file == "app.yaml") content = with_name(*content, name);
    if (const Status written = write_file((to / file).string(), *content); !written) return written.error();
  }
  return out;
}

bool python_has_torch() {
  const auto ran =
      run_program({python_program(), "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"});
  return ran && ran->status == 0;
}

}  // namespace

int init_command(const InitOptions& options) {
  const fs::path folder = fs::path(options.name).lexically_normal();
  const std::string name = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  if (!spec::legal_name(name))
    return failed(fmt::format("'{}' is no name of an application: letters, digits, '-', '_' and blanks inside", name));
  const std::string examples = example_folder("functions");
  if (examples.empty()) return failed("the examples `examples/functions` are not beside this program or above it");
  std::error_code cannot;
  if (fs::exists(folder, cannot))
    return failed(fmt::format("'{}' is there already; nothing was written", options.name));
  if (!fs::create_directories(folder, cannot))
    return failed(fmt::format("'{}' cannot be made: {}", options.name, cannot.message()));
  const auto files = copy_files(fs::path(examples) / options.runtime, folder, name);
  if (!files) return failed(files.error().message);
  fmt::print("{} made {} with {}\n", green("ok:"), folder.string(), fmt::join(*files, ", "));
  if (options.runtime == "torch") {
    fmt::print("  model.pt is a small one to begin with; make_model.py writes it{}\n",
               python_has_torch() ? "" : " where Python has torch, which it does not have here");
  }
  fmt::print("next, with a server (sluice up):\n");
  fmt::print("  sluice deploy {}\n", (folder / "app.yaml").string());
  fmt::print("  sluice invoke {} --data @{}\n", name, (folder / "sample.json").string());
  fmt::print("  sluice apps\n");
  return 0;
}

}  // namespace sluice::cli
