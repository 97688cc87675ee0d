#include "live/local_identity.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/text.h"
#include "data/clock.h"

namespace sluice::live {
namespace {

constexpr const char* kAdmin = "admin";

Error not_written(const std::string& path) {
  return {ErrorCode::io, str("'", path, "' cannot be written: ", std::strerror(errno))};
}

// Nobody else may read the file at any moment, so it is made that way.
Result<std::string> make_admin_key(const std::string& path) {
  auto key = store::make_key();
  if (!key) return key;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return not_written(path);
  const std::string line = *key + "\n";
  const bool written = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const bool closed = ::close(file) == 0;
  if (written && closed) return key;
  const Error failed = not_written(path);
  ::unlink(path.c_str());
  return failed;
}

Result<std::string> admin_key(const std::string& directory) {
  const std::string path = directory + "/key";
  if (::access(path.c_str(), F_OK) != 0) return make_admin_key(path);
  std::ifstream in(path);
  std::string key;
  if (in >> key) return key;
  return Error{ErrorCode::io, str("'", path, "' has no key: remove it, and a new one is made")};
}

}  // namespace

Result<std::unique_ptr<LocalIdentity>> LocalIdentity::open(store::Store& store) {
  auto salt = store.secret("key_salt");
  if (!salt) return salt.error();
  const auto key = admin_key(store.directory());
  if (!key) return key.error();
  store::Key admin{
      .name = kAdmin, .principal = {.role = Role::admin}, .made = {}, .hash = store::key_hash(*salt, *key)};
  std::unique_ptr<LocalIdentity> out(new LocalIdentity(std::move(admin), std::move(*salt)));
  auto known = out->read(store);
  if (!known) return known.error();
  out->known_ = std::move(*known);
  return out;
}

Result<std::shared_ptr<const LocalIdentity::Known>> LocalIdentity::read(store::Store& store) const {
  auto keys = store.keys();
  if (!keys) return keys.error();
  auto tenants = store.tenants();
  if (!tenants) return tenants.error();
  auto known = std::make_shared<Known>();
  known->keys = std::move(*keys);
  known->keys.insert(std::ranges::lower_bound(known->keys, admin_.name, {}, &store::Key::name), admin_);
  for (const store::Key& key : known->keys) known->by_hash.emplace(key.hash, key.principal);
  known->tenants = std::move(*tenants);
  return std::shared_ptr<const Known>(std::move(known));
}

// Found by its hash: how long that takes tells nothing of the key.
std::optional<Principal> LocalIdentity::who(std::string_view key) const {
  const auto all = known();
  const auto found = all->by_hash.find(store::key_hash(salt_, key));
  return found == all->by_hash.end() ? std::nullopt : std::optional(found->second);
}

std::optional<store::Tenant> LocalIdentity::tenant(std::string_view name) const {
  for (const store::Tenant& tenant : known()->tenants) {
    if (tenant.name == name) return tenant;
  }
  return std::nullopt;
}

// What is known changes when the disk has it. Changes happen one after the other, so the last one is what counts.
void LocalIdentity::change(Change change, OnDone done) {
  auto next = std::make_shared<std::shared_ptr<const Known>>();
  writer_->post(
      [this, next, change = std::move(change)](store::Store& store) -> Status {
        if (const Status changed = change(store); !changed) return changed;
        auto known = read(store);
        if (!known) return known.error();
        *next = std::move(*known);
        return Done{};
      },
      [this, next, done = std::move(done)](const Status& status) {
        if (status) std::atomic_store(&known_, *next);
        if (status) tell_quotas();
        done(status);
      });
}

void LocalIdentity::on_quota(std::function<void(const store::Tenant&)> changed) {
  changed_ = std::move(changed);
  tell_quotas();
}

void LocalIdentity::tell_quotas() const {
  for (const store::Tenant& tenant : known()->tenants) {
    if (changed_) changed_(tenant);
  }
}

void LocalIdentity::add_key(std::string name, Principal principal, std::function<void(Result<std::string>)> done) {
  if (name == kAdmin) {
    return done(Error{ErrorCode::already_exists, "the key 'admin' is the file DATA/key: use another name"});
  }
  auto text = std::make_shared<std::string>();
  change(
      [name, principal, text](store::Store& store) -> Status {
        auto made = store.add_key(name, principal, data::now());
        if (!made) return made.error();
        *text = std::move(*made);
        return Done{};
      },
      [text, done = std::move(done)](const Status& status) { status ? done(std::move(*text)) : done(status.error()); });
}

void LocalIdentity::revoke_key(std::string name, OnDone done) {
  if (name == kAdmin) {
    return done(Error{ErrorCode::invalid, "the key 'admin' is the file DATA/key: remove the file and start again"});
  }
  change([name = std::move(name)](store::Store& store) { return store.remove_key(name); }, std::move(done));
}

void LocalIdentity::add_tenant(std::string name, Quota quota, OnDone done) {
  change(
      [name = std::move(name), quota](store::Store& store) -> Status {
        const auto added = store.add_tenant(name, quota);
        if (!added) return added.error();
        return Done{};
      },
      std::move(done));
}

void LocalIdentity::set_quota(std::string name, Quota quota, OnDone done) {
  change([name = std::move(name), quota](store::Store& store) { return store.set_quota(name, quota); },
         std::move(done));
}

void LocalIdentity::remove_tenant(std::string name, OnDone done) {
  change([name = std::move(name)](store::Store& store) { return store.remove_tenant(name); }, std::move(done));
}

}  // namespace sluice::live
