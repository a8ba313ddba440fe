#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <mutex>
#include <string_view>

#include "persistence/etcd/members.hpp"

namespace troupe::persistence {

namespace {

// The module is never unloaded: gRPC's threads may still run its code.
expected<const etcd_module*> load() {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto file = (program.parent_path() / "../lib/troupe/etcd.so").lexically_normal();
  auto* const module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr)
    return fail(errc::io, fmt::format("the client of etcd cannot be loaded: {}", ::dlerror()));
  const auto* const found = static_cast<const etcd_module*>(::dlsym(module, "troupe_etcd"));
  if (found == nullptr || std::string_view{found->version} != TROUPE_VERSION)
    return fail(
        errc::io,
        fmt::format("{} was not built with this program's version, {}: install both from one build",
                    file.string(), TROUPE_VERSION));
  return found;
}

expected<const etcd_module*> loaded() {
  static std::mutex mutex;
  static const etcd_module* known = nullptr;
  const std::lock_guard lock{mutex};
  if (known == nullptr) {
    auto found = load();
    if (!found) return found;
    known = *found;
  }
  return known;
}

}  // namespace

expected<std::unique_ptr<shared_log>> open_etcd(const etcd_options& options) {
  const auto module = loaded();
  if (!module) return fail(module.error());
  return (*module)->open(options);
}

expected<std::unique_ptr<etcd_members>> open_etcd_members(const etcd_options& options) {
  const auto module = loaded();
  if (!module) return fail(module.error());
  return (*module)->open_members(options);
}

}  // namespace troupe::persistence
