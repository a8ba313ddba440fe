// The keys of a member of etcd, in DATA-DIR/pki: the authority of all members (ca), the member's
// certificate for clients and peers (member), and a client's (client), for control planes and
// commands. Only etcd uses the authority: every certificate that it signed has full access.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "persistence/etcd/etcd.hpp"
#include "server/credentials/tls_identity.hpp"
#include "server/credentials/x509.hpp"

namespace troupe::tools {

class member_keys {
 public:
  // Creates missing keys. `host` is the host by which others call the member.
  static tl::expected<member_keys, std::string> open(const std::filesystem::path& data_dir,
                                                     const std::string& host);

  // True if there is a new certificate; etcd reads certificates again for each connection.
  tl::expected<bool, std::string> renew();
  const server::x509::identity& authority() const noexcept { return authority_; }
  std::string authority_hash() const;
  // For the listener that joining machines call.
  server::tls_material server() const;

 private:
  member_keys(std::filesystem::path directory, std::string host)
      : directory_{std::move(directory)}, host_{std::move(host)} {}

  std::filesystem::path directory_;
  std::string host_;
  server::x509::identity authority_, member_, client_;
};

// Options with the client's certificate.
persistence::etcd_options etcd_client(const std::filesystem::path& data_dir,
                                      std::vector<std::string> endpoints);

}  // namespace troupe::tools
