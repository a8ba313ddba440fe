#include "tools/etcd/member_keys.hpp"

#include "server/credentials/addresses.hpp"
#include "server/credentials/kept_identity.hpp"
#include "server/credentials/private_file.hpp"
#include "server/defaults.hpp"
#include "tools/etcd/member_settings.hpp"

namespace troupe::tools {

tl::expected<member_keys, std::string> member_keys::open(const std::filesystem::path& data_dir,
                                                         const std::string& host) {
  member_keys made{member_pki(data_dir), host};
  if (auto good = server::make_private_directory(made.directory_); !good)
    return tl::make_unexpected(good.error());
  if (auto good = made.renew(); !good) return tl::make_unexpected(good.error());
  return made;
}

tl::expected<bool, std::string> member_keys::renew() {
  const auto now = std::chrono::system_clock::now();
  const auto lifetime = server::defaults::certificate_lifetime;
  auto authority = server::keep_authority(directory_, "troupe-etcd", now, authority_);
  if (!authority) return authority;
  server::x509::leaf own{"troupe-etcd-member", {}, {"localhost", "127.0.0.1", "::1", host_}, {}};
  // Peers check that the address from which a member connects is in its certificate.
  for (const auto& each : server::interface_addresses())
    own.names.push_back(each);
  own.calls_others = true;
  auto member = server::keep_identity(directory_, "member", authority_, std::move(own), lifetime,
                                      now, member_);
  if (!member) return member;
  auto client = server::keep_identity(directory_, "client", authority_,
                                      {"troupe-control-plane", {}, {}, {}}, lifetime, now, client_);
  if (!client) return client;
  return *authority || *member || *client;
}

std::string member_keys::authority_hash() const {
  return server::x509::key_hash(authority_.certificate).value_or("");
}

server::tls_material member_keys::server() const {
  return {member_.certificate + authority_.certificate, member_.private_key,
          authority_.certificate};
}

persistence::etcd_options etcd_client(const std::filesystem::path& data_dir,
                                      std::vector<std::string> endpoints) {
  const auto pki = member_pki(data_dir);
  persistence::etcd_options options;
  options.endpoints = std::move(endpoints);
  options.ca_file = (pki / "ca.crt").string();
  options.certificate_file = (pki / "client.crt").string();
  options.key_file = (pki / "client.key").string();
  options.read_limit = etcd_defaults::call_limit;
  return options;
}

}  // namespace troupe::tools
