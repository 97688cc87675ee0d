#include "cli/worker_path.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "cli/run_program.h"
#include "engine/python_worker.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

fs::path own_folder() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::path(".") : self.parent_path();
}

// Put in place whole: a server that has the directory already may be starting a worker from it right now.
Status write_python_worker(const std::string& path) {
  std::error_code failed;
  fs::create_directories(fs::path(path).parent_path(), failed);
  const std::string partial = str(path, ".", ::getpid());
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  file << engine::python_worker_source();
  file.close();
  const std::string why = file ? "" : std::strerror(errno);
  if (file) fs::rename(partial, path, failed);
  if (file && !failed) return Done{};
  std::error_code ignored;
  fs::remove(partial, ignored);
  return Error{ErrorCode::io, str("'", path, "' cannot be written: ", file ? failed.message() : why)};
}

std::vector<std::string> parts_of(const char* text, char between) {
  std::vector<std::string> out;
  std::istringstream list(text == nullptr ? "" : text);
  for (std::string part; std::getline(list, part, between);) {
    if (!part.empty()) out.push_back(part);
  }
  return out;
}

// Where an interpreter that is not the system's has its libraries: /opt/env of /opt/env/bin/python3.
std::string prefix_of(const std::string& python) {
  const fs::path path(python);
  return path.is_absolute() ? path.parent_path().parent_path().string() : "";
}

// SLUICE_WORKER_USERS is FIRST-LAST, or `none`.
Result<std::shared_ptr<invoker::Quarters>> quarters_of(const std::string& directory) {
  invoker::Quarters::Options options{.closed = directory};
  const char* configured = std::getenv("SLUICE_WORKER_USERS");
  const std::string users = configured == nullptr ? "" : configured;
  if (users == "none") {
    options.users = 0;
  } else if (!users.empty()) {
    const std::size_t dash = users.find('-');
    const auto first = parse_int(users.substr(0, dash));
    const auto last = dash == std::string::npos ? std::nullopt : parse_int(users.substr(dash + 1));
    if (!first || !last || *first < 1 || *last < *first || *last > 0xffff'fffe) {
      return Error{ErrorCode::invalid,
                   str("SLUICE_WORKER_USERS is '", users,
                       "'; write the numbers of users that nobody else is, as 400000-465535, or none")};
    }
    options.first_user = static_cast<std::uint32_t>(*first);
    options.users = static_cast<std::uint32_t>(*last - *first + 1);
  }
  return invoker::Quarters::make(std::move(options));
}

}  // namespace

std::string python_program() {
  const char* configured = std::getenv("SLUICE_PYTHON");
  if (configured != nullptr && *configured != '\0') return configured;
  // Another one may come first on the path than the one that packages belong to.
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    const auto ran = run_program({candidate, "-c", "import numpy"});
    if (ran && ran->status == 0) return candidate;
  }
  return "python3";
}

Result<std::string> worker_program() {
  const char* configured = std::getenv("SLUICE_WORKER");
  std::string out =
      configured != nullptr && *configured != '\0' ? configured : (own_folder() / "sluice-worker").string();
  if (::access(out.c_str(), X_OK) == 0) return out;
  return Error{ErrorCode::not_found, str("the program that runs functions is not at '", out,
                                         "': build it with `make build`, or say where it is with SLUICE_WORKER")};
}

Result<invoker::Spawner::Options> spawner_options(const std::string& directory) {
  invoker::Spawner::Options out;
  auto worker = worker_program();
  if (!worker) return worker.error();
  out.worker = std::move(*worker);
  out.python = python_program();
  out.python_worker = str(directory, "/sluice_worker.py");
  if (const Status written = write_python_worker(out.python_worker); !written) return written.error();
  out.pass = parts_of(std::getenv("SLUICE_WORKER_ENV"), ',');
  out.readable = parts_of(std::getenv("SLUICE_WORKER_READS"), ':');
  for (std::string& path : parts_of(std::getenv("PYTHONPATH"), ':')) out.readable.push_back(std::move(path));
  if (const std::string prefix = prefix_of(out.python); !prefix.empty()) out.readable.push_back(prefix);
  auto quarters = quarters_of(directory);
  if (!quarters) return quarters.error();
  auto kept = (*quarters)->keep(out.python_worker);
  if (!kept) return kept.error();
  out.python_worker = std::move(*kept);
  out.quarters = std::move(*quarters);
  return out;
}

std::string own_command() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return "sluice";
  for (const std::string& folder : parts_of(std::getenv("PATH"), ':')) {
    if (fs::equivalent(fs::path(folder) / "sluice", self, failed)) return "sluice";
  }
  const fs::path from_here = fs::proximate(self, failed);
  if (failed) return self.string();
  return from_here.has_parent_path() ? from_here.string() : "./" + from_here.string();
}

std::string example_folder(const std::string& name) {
  std::error_code failed;
  for (fs::path above = own_folder();; above = above.parent_path()) {
    const fs::path folder = above / "examples" / name;
    if (fs::is_directory(folder, failed)) return folder.string();
    if (above == above.parent_path()) return {};
  }
}

}  // namespace sluice::cli
