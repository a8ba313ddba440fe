#include "runtime/link/module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <utility>

#include "runtime/link/link.hpp"

namespace troupe::runtime::link {
std::string link_interface() {
  return TROUPE_LINK_INTERFACE;
}

tl::expected<void, std::string> check_link_interface(const std::string& file, const char* found) {
  if (found != nullptr && found == link_interface()) return {};
  return tl::make_unexpected(fmt::format(
      "{} has {}, but this program needs the interface {}: install both from one build", file,
      found == nullptr ? "no interface for links" : fmt::format("the interface {}", found),
      link_interface()));
}

tl::expected<const transport*, std::string> load_transport(const std::string& file) {
  auto* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!module)
    return tl::make_unexpected(fmt::format("the link's module cannot be loaded: {}", dlerror()));
  const auto* const text = static_cast<const char*>(dlsym(module, "troupe_link_interface"));
  if (auto good = check_link_interface(file, text); !good)
    return tl::make_unexpected(std::move(good.error()));
  return static_cast<const transport*>(dlsym(module, "troupe_link_functions"));
}

namespace {

using loaded = tl::expected<const transport*, std::string>;

// Loaded once; a failed load is retried.
loaded module() {
  static std::mutex mutex;
  static const transport* known = nullptr;
  std::lock_guard lock{mutex};
  if (known) return known;
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto found = load_transport((program.parent_path() / transport_module).lexically_normal());
  if (found) known = *found;
  return found;
}

}  // namespace

tl::expected<std::unique_ptr<listener>, std::string> listener::start(listener_options options) {
  return module().and_then([&](const transport* use) { return use->listen(std::move(options)); });
}

tl::expected<std::unique_ptr<dialer>, std::string> dialer::start(dialer_options options) {
  return module().and_then([&](const transport* use) { return use->dial(std::move(options)); });
}

}  // namespace troupe::runtime::link
