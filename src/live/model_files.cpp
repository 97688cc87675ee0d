#include "live/model_files.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/text.h"
#include "store/key.h"

namespace sluice::live {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders_of(const Application& application) {
  std::vector<std::string> out;
  for (const Function& function : application.functions) {
    for (const std::optional<Body>* body : {&function.cpu, &function.gpu}) {
      if (*body && !(*body)->model.empty()) out.push_back(fs::path((*body)->model).parent_path().filename().string());
    }
  }
  return out;
}

}  // namespace

// A hash that an adversary could meet would let one tenant's model take the place of another's.
Result<std::string> ModelFiles::keep(const std::string& name, const std::string& content) const {
  const fs::path target = fs::path(folder_) / store::sha256_text(content) / fs::path(name).filename();
  std::error_code failed;
  if (fs::exists(target, failed) && fs::file_size(target, failed) == content.size()) return target.string();
  fs::create_directories(target.parent_path(), failed);
  const fs::path partial = str(target.string(), ".partial");
  std::ofstream out(partial, std::ios::binary);
  out << content;
  out.close();
  if (!out) return Error{ErrorCode::io, str("'", partial.string(), "' cannot be written: is the disk full?")};
  fs::rename(partial, target, failed);
  if (failed) return Error{ErrorCode::io, str("'", target.string(), "' cannot be written: ", failed.message())};
  return target.string();
}

ModelFiles::Lease ModelFiles::hold(const Application& application) {
  auto folders = std::make_unique<std::vector<std::string>>(folders_of(application));
  {
    const std::lock_guard lock(held_->mutex);
    for (const std::string& folder : *folders) ++held_->leases[folder];
  }
  return Lease(folders.release(), [held = held_](const void* list) {
    const std::unique_ptr<const std::vector<std::string>> given_back(
        static_cast<const std::vector<std::string>*>(list));
    const std::lock_guard lock(held->mutex);
    for (const std::string& folder : *given_back) {
      const auto it = held->leases.find(folder);
      if (--it->second == 0) held->leases.erase(it);
    }
  });
}

// Workers that run have their files open; what is removed here stays for them.
void ModelFiles::collect() const {
  std::error_code failed;
  std::vector<fs::path> unused;
  {
    const std::lock_guard lock(held_->mutex);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, failed)) {
      if (!held_->leases.contains(entry.path().filename().string())) unused.push_back(entry.path());
    }
  }
  for (const fs::path& folder : unused) fs::remove_all(folder, failed);
}

}  // namespace sluice::live
