#include "server/frontend/api_frontend.hpp"

#include <limits.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/access/token_file.hpp"
#include "server/connections/local_socket.hpp"
#include "server/console/handlers/local_admin.hpp"
#include "server/credentials/addresses.hpp"
#include "server/credentials/kubeconfig.hpp"
#include "server/credentials/private_file.hpp"
#include "server/credentials/tls_identity.hpp"
#include "server/frontend/auth_filter.hpp"

namespace troupe::server {
namespace {

std::vector<std::string> names_of(const frontend_options& options) {
  auto names = options.names;
  names.push_back(options.listen.host);
  if (is_wildcard(options.listen.host)) {
    const auto all = interface_addresses();
    names.insert(names.end(), all.begin(), all.end());
  }
  return names;
}

std::filesystem::path keys_in(const frontend_options& options) {
  return options.data_dir / "pki";
}

// The host names by which clients may call the plain listener, besides addresses.
std::vector<std::string> names_of_machine(const frontend_options& options) {
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

class api_frontend::impl {
 public:
  impl(frontend_options settings, frontend_parts parts, std::shared_ptr<token_file> read)
      : options{std::move(settings)},
        keys{std::move(parts.keys)},
        tokens{std::move(read)},
        authenticator{joined<token_source>(tokens, std::move(parts.tokens)),
                      options.anonymous_access, std::move(parts.certificates)},
        authorization{std::move(parts.permissions)},
        signer{std::move(parts.signer)},
        published_authority{std::move(parts.authority)},
        front_proxy{std::move(parts.front_proxy)},
        in_flight{options.reads_in_flight, options.writes_in_flight},
        filter{authenticator, authorization, in_flight, *parts.health, *parts.api},
        server{options.http} {
    if (parts.legacy_api != nullptr)
      legacy_filter.emplace(in_flight, *parts.legacy_api, names_of_machine(options));
    if (parts.console != nullptr) local_filter.emplace(*parts.console);
    if (parts.reviewer != nullptr) parts.reviewer->attach(authenticator);
  }

  ~impl() {
    {
      const std::lock_guard lock{mutex};
      ending = true;
    }
    wake.notify_all();
    if (renewer.joinable()) renewer.join();
  }

  tl::expected<void, std::string> listen() {
    auto made = tls_identity::make(keys->server());
    if (!made) return tl::make_unexpected(made.error());
    identity = std::move(*made);
    publish(keys->server());
    auto bound = server.listen(options.listen, filter, identity.get());
    if (!bound) return tl::make_unexpected(bound.error());
    address = *bound;
    if (options.legacy_listen && legacy_filter) {
      auto plain = server.listen(*options.legacy_listen, *legacy_filter);
      if (!plain) return tl::make_unexpected(plain.error());
      legacy_address = *plain;
    }
    if (local_filter) {
      const auto file = options.data_dir / console_socket;
      if (const auto local = server.listen_locally(file, *local_filter); !local)
        spdlog::warn("server: the local console: {}", local.error());
    }
    if (auto written = write_kubeconfig(); !written) return written;
    renewer = std::thread{[this] { keep_fresh(); }};
    return {};
  }

  void publish(tls_material published) {
    if (signer) signer->replace(keys->signer());
    if (published_authority) published_authority(keys->authority());
    const std::lock_guard lock{mutex};
    material = std::move(published);
  }

  tl::expected<void, std::string> write_kubeconfig() const {
    return write_private_file(options.data_dir / "admin.kubeconfig",
                              kubeconfig(address, keys->authority(), keys->administrator()),
                              durability::replaceable);
  }

  void keep_fresh() {
    renew_front_proxy();
    std::unique_lock lock{mutex};
    while (!wake.wait_for(lock, options.renew_period, [this] { return ending; })) {
      lock.unlock();
      if (auto done = renew(); !done)
        spdlog::error("server: certificates not renewed: {}", done.error());
      renew_front_proxy();
      if (auto done = tokens->refresh(); !done)
        spdlog::error("server: tokens not read again: {}", done.error());
      lock.lock();
    }
  }

  void renew_front_proxy() {
    if (!front_proxy) return;
    const auto changed = keys->renew_front_proxy(std::chrono::system_clock::now());
    if (!changed)
      spdlog::error("server: certificates of the front proxy not renewed: {}", changed.error());
    else if (*changed || !front_proxy_told)
      front_proxy_told = front_proxy(keys->front_proxy());
  }

  tl::expected<void, std::string> renew() {
    keys->names(names_of(options));
    auto changed = keys->renew(std::chrono::system_clock::now());
    if (!changed) return tl::make_unexpected(changed.error());
    if (!*changed) return {};
    if (auto replaced = identity->replace(keys->server()); !replaced) return replaced;
    publish(keys->server());
    return write_kubeconfig();
  }

  const frontend_options options;
  const std::unique_ptr<pki> keys;
  const std::shared_ptr<token_file> tokens;
  const server::authenticator authenticator;
  const server::authorization authorization;
  const std::shared_ptr<node_signer> signer;
  const std::function<void(const std::string&)> published_authority;
  const std::function<bool(front_proxy_credentials)> front_proxy;
  bool front_proxy_told = false;
  const server::in_flight in_flight;
  auth_filter filter;
  std::optional<open_filter> legacy_filter;
  std::optional<local_admin> local_filter;
  std::unique_ptr<tls_identity> identity;
  endpoint address;
  std::optional<endpoint> legacy_address;
  http_server server;

  mutable std::mutex mutex;
  std::condition_variable wake;
  tls_material material;  // as passed to the callback last
  bool ending = false;
  std::thread renewer;
};

api_frontend::api_frontend(std::unique_ptr<impl> made) : impl_{std::move(made)} {}
api_frontend::~api_frontend() = default;

tl::expected<std::unique_ptr<pki>, std::string> api_frontend::open_keys(
    const frontend_options& options) {
  return pki::open({keys_in(options), names_of(options), options.certificate_lifetime},
                   std::chrono::system_clock::now());
}

tl::expected<std::unique_ptr<api_frontend>, std::string> api_frontend::start(
    frontend_options options, frontend_parts parts) {
  if (!parts.keys) {
    auto opened = open_keys(options);
    if (!opened) return tl::make_unexpected(opened.error());
    parts.keys = std::move(*opened);
  }
  auto tokens = token_file::open(keys_in(options) / "tokens.csv");
  if (!tokens) return tl::make_unexpected(tokens.error());
  auto made = std::make_unique<impl>(std::move(options), std::move(parts), std::move(*tokens));
  if (auto listening = made->listen(); !listening) return tl::make_unexpected(listening.error());
  return std::unique_ptr<api_frontend>{new api_frontend{std::move(made)}};
}

tl::expected<endpoint, std::string> api_frontend::listen(const endpoint& also) {
  return impl_->server.listen(also, impl_->filter, impl_->identity.get());
}
const endpoint& api_frontend::address() const noexcept {
  return impl_->address;
}
const std::optional<endpoint>& api_frontend::legacy_address() const noexcept {
  return impl_->legacy_address;
}
http_stats api_frontend::stats() const {
  return impl_->server.stats();
}
void api_frontend::note_refusal(const refusal& refusal) {
  impl_->server.note_refusal(refusal);
}
tls_material api_frontend::identity() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->material;
}
void api_frontend::stop() {
  impl_->server.stop();
}

}  // namespace troupe::server
