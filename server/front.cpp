#include "server/front.hpp"

#include <limits.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/addresses.hpp"
#include "server/console/local_gate.hpp"
#include "server/gate.hpp"
#include "server/kubeconfig.hpp"
#include "server/local_socket.hpp"
#include "server/pki.hpp"
#include "server/private_file.hpp"
#include "server/tls_identity.hpp"
#include "server/token_file.hpp"

namespace troupe::server {
namespace {

std::vector<std::string> names_of(const front_options& options) {
  auto names = options.names;
  names.push_back(options.listen.host);
  if (is_wildcard(options.listen.host)) {
    const auto all = interface_addresses();
    names.insert(names.end(), all.begin(), all.end());
  }
  return names;
}

// By which clients may call the plain listener, besides addresses.
std::vector<std::string> names_of_machine(const front_options& options) {
  auto names = options.names;
  char name[HOST_NAME_MAX + 1] = "";
  if (::gethostname(name, sizeof name - 1) == 0) names.emplace_back(name);
  return names;
}

template <class T>
std::vector<std::shared_ptr<const T>> joined(std::shared_ptr<const T> first,
                                             std::vector<std::shared_ptr<const T>> others) {
  others.insert(others.begin(), std::move(first));
  return others;
}

}  // namespace

class front::impl {
 public:
  impl(front_options given, front_parts parts, std::unique_ptr<pki> opened,
       std::shared_ptr<token_file> read)
      : options{std::move(given)},
        keys{std::move(opened)},
        tokens{std::move(read)},
        who{joined<token_source>(tokens, std::move(parts.tokens))},
        may{std::move(parts.permissions)},
        signer{std::move(parts.signer)},
        room{options.reads_in_flight, options.writes_in_flight},
        door{who, may, room, *parts.health, *parts.api},
        server{options.http} {
    if (parts.legacy_api != nullptr)
      legacy_door.emplace(room, *parts.legacy_api, names_of_machine(options));
    if (parts.console != nullptr) local_door.emplace(*parts.console);
  }

  ~impl() {
    {
      const std::lock_guard lock{mutex};
      ending = true;
    }
    wake.notify_all();
    if (keeper.joinable()) keeper.join();
  }

  tl::expected<void, std::string> listen() {
    auto made = tls_identity::make(keys->server());
    if (!made) return tl::make_unexpected(made.error());
    identity = std::move(*made);
    shown(keys->server());
    auto bound = server.listen(options.listen, door, identity.get());
    if (!bound) return tl::make_unexpected(bound.error());
    where = *bound;
    if (options.legacy_listen && legacy_door) {
      auto plain = server.listen(*options.legacy_listen, *legacy_door);
      if (!plain) return tl::make_unexpected(plain.error());
      legacy_where = *plain;
    }
    if (local_door) {
      const auto file = options.data_dir / console_socket;
      if (const auto local = server.listen_locally(file, *local_door); !local)
        spdlog::warn("server: the local console: {}", local.error());
    }
    if (auto written = write_kubeconfig(); !written) return written;
    keeper = std::thread{[this] { keep_fresh(); }};
    return {};
  }

  void shown(tls_material what) {
    if (signer) signer->replace(keys->signer());
    const std::lock_guard lock{mutex};
    material = std::move(what);
  }

  tl::expected<void, std::string> write_kubeconfig() const {
    return write_private_file(options.data_dir / "admin.kubeconfig",
                              kubeconfig(where, keys->authority(), keys->administrator()));
  }

  void keep_fresh() {
    std::unique_lock lock{mutex};
    while (!wake.wait_for(lock, options.renew_period, [this] { return ending; })) {
      lock.unlock();
      if (auto done = renew(); !done)
        spdlog::error("server: certificates not renewed: {}", done.error());
      if (auto done = tokens->refresh(); !done)
        spdlog::error("server: tokens not read again: {}", done.error());
      lock.lock();
    }
  }

  tl::expected<void, std::string> renew() {
    keys->names(names_of(options));
    auto changed = keys->renew(std::chrono::system_clock::now());
    if (!changed) return tl::make_unexpected(changed.error());
    if (!*changed) return {};
    if (auto replaced = identity->replace(keys->server()); !replaced) return replaced;
    shown(keys->server());
    return write_kubeconfig();
  }

  const front_options options;
  const std::unique_ptr<pki> keys;
  const std::shared_ptr<token_file> tokens;
  const authenticator who;
  const authorization may;
  const std::shared_ptr<node_signer> signer;
  const in_flight room;
  gate door;
  std::optional<open_gate> legacy_door;
  std::optional<local_gate> local_door;
  std::unique_ptr<tls_identity> identity;
  endpoint where;
  std::optional<endpoint> legacy_where;
  http_server server;

  mutable std::mutex mutex;
  std::condition_variable wake;
  tls_material material;  // as shown last
  bool ending = false;
  std::thread keeper;
};

front::front(std::unique_ptr<impl> made) : impl_{std::move(made)} {}
front::~front() = default;

tl::expected<std::unique_ptr<front>, std::string> front::start(front_options options,
                                                               front_parts parts) {
  const auto directory = options.data_dir / "pki";
  auto keys = pki::open({directory, names_of(options), options.certificate_life},
                        std::chrono::system_clock::now());
  if (!keys) return tl::make_unexpected(keys.error());
  auto tokens = token_file::open(directory / "tokens.csv");
  if (!tokens) return tl::make_unexpected(tokens.error());
  auto made = std::make_unique<impl>(std::move(options), std::move(parts), std::move(*keys),
                                     std::move(*tokens));
  if (auto listening = made->listen(); !listening) return tl::make_unexpected(listening.error());
  return std::unique_ptr<front>{new front{std::move(made)}};
}

const endpoint& front::where() const noexcept {
  return impl_->where;
}
const std::optional<endpoint>& front::legacy_where() const noexcept {
  return impl_->legacy_where;
}
std::filesystem::path front::kubeconfig_path() const {
  return impl_->options.data_dir / "admin.kubeconfig";
}
http_stats front::stats() const {
  return impl_->server.stats();
}
tls_material front::identity() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->material;
}
void front::stop() {
  impl_->server.stop();
}

}  // namespace troupe::server
