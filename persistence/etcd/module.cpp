#include "persistence/etcd/module.hpp"

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <mutex>
#include <utility>

#include "persistence/etcd/members.hpp"

namespace troupe::persistence {

std::string etcd_interface() {
  return TROUPE_ETCD_INTERFACE;
}

expected<void> check_etcd_interface(const std::string& file, const char* found) {
  if (found != nullptr && found == etcd_interface()) return {};
  return fail(
      errc::io,
      fmt::format(
          "{} has {}, but this program needs the interface {}: install both from "
          "one build",
          file, found == nullptr ? "no interface for etcd" : fmt::format("the interface {}", found),
          etcd_interface()));
}

expected<const etcd_module*> load_etcd_module(const std::string& file) {
  auto* const module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr)
    return fail(errc::io, fmt::format("the client of etcd cannot be loaded: {}", ::dlerror()));
  const auto* const text = static_cast<const char*>(::dlsym(module, "troupe_etcd_interface"));
  if (auto good = check_etcd_interface(file, text); !good) return fail(std::move(good.error()));
  return static_cast<const etcd_module*>(::dlsym(module, "troupe_etcd_functions"));
}

namespace {

expected<const etcd_module*> loaded() {
  static std::mutex mutex;
  static const etcd_module* known = nullptr;
  const std::lock_guard lock{mutex};
  if (known == nullptr) {
    std::error_code failed;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
    const auto file = (program.parent_path() / "../lib/troupe/etcd.so").lexically_normal();
    auto found = load_etcd_module(file.string());
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
