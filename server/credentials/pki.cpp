#include "server/credentials/pki.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "actors/defaults.hpp"
#include "server/credentials/addresses.hpp"
#include "server/credentials/kept_identity.hpp"
#include "server/credentials/private_file.hpp"

namespace troupe::server {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace

pki::pki(pki_options options) : options_{std::move(options)} {
  names(options_.names);
}

void pki::names(const std::vector<std::string>& extra) {
  names_ = {"localhost", "127.0.0.1", "::1", host_name(), actors::defaults::api_service_address};
  // Names by which programs in the cluster call the Service (kubeadm: GetAPIServerAltNames).
  for (const auto* name : {"kubernetes", "kubernetes.default", "kubernetes.default.svc",
                           "kubernetes.default.svc.cluster.local"})
    names_.emplace_back(name);
  names_.insert(names_.end(), extra.begin(), extra.end());
  std::erase_if(names_, is_wildcard);
  std::sort(names_.begin(), names_.end());
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

tl::expected<std::unique_ptr<pki>, std::string> pki::open(pki_options options, time_point now) {
  if (auto made = make_private_directory(options.directory); !made)
    return tl::make_unexpected(made.error());
  std::unique_ptr<pki> opened{new pki{std::move(options)}};
  if (auto done = opened->renew(now); !done) return tl::make_unexpected(done.error());
  return opened;
}

tl::expected<bool, std::string> pki::renew(time_point now) {
  const auto& directory = options_.directory;
  auto authority = keep_authority(directory, "troupe", now, authority_);
  if (!authority) return authority;
  auto server = keep_identity(directory, "server", authority_, {"troupe-server", {}, names_, {}},
                              options_.lifetime, now, server_);
  if (!server) return server;
  auto administrator =
      keep_identity(directory, "admin", authority_, {"admin", {"system:masters"}, {}, {}},
                    options_.lifetime, now, administrator_);
  if (!administrator) return administrator;
  return *authority || *server || *administrator;
}

// Servers read a new authority where it is published, so losing the files does no
// harm.
tl::expected<bool, std::string> pki::renew_front_proxy(time_point now) {
  const auto& directory = options_.directory;
  auto authority = keep_replaceable_authority(directory, "front-proxy-ca", "troupe-front-proxy",
                                              now, front_authority_);
  if (!authority) return authority;
  return keep_identity(directory, "front-proxy-client", front_authority_,
                       {std::string{front_proxy_name}, {}, {}, {}}, options_.lifetime, now, front_);
}

tls_material pki::server() const {
  // With the authority's certificate: a joining machine knows only its hash.
  return {server_.certificate + authority_.certificate, server_.private_key,
          authority_.certificate};
}

}  // namespace troupe::server
