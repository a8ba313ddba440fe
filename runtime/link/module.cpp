#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <string_view>

#include "runtime/link/link.hpp"
#include "runtime/link/transport.hpp"

namespace troupe::runtime::link {
namespace {

using loaded = tl::expected<const transport*, std::string>;

// Never unloaded: threads of gRPC may execute its code.
loaded load() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto file = (program.parent_path() / transport_module).lexically_normal();
  auto* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!module)
    return tl::make_unexpected(fmt::format("the link's module cannot be loaded: {}", dlerror()));
  const auto* const found = static_cast<const transport*>(dlsym(module, "troupe_link_transport"));
  if (!found || std::string_view{found->version} != TROUPE_VERSION)
    return tl::make_unexpected(
        fmt::format("{} is not of this program's version, {}: install both from one build",
                    file.string(), TROUPE_VERSION));
  return found;
}

// Loaded once; a failed load is retried.
loaded module() {
  static std::mutex mutex;
  static const transport* known = nullptr;
  std::lock_guard lock{mutex};
  if (known) return known;
  const auto found = load();
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
