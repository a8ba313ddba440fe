// The keys of a member of etcd, in DATA-DIR/pki: the authority of all members (ca), what the member
// shows to clients and to its like (member), and a client's (client), for control planes and
// commands. The authority is etcd's alone: who has a certificate of it may do anything there.
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
  // Makes what is missing. `host` is how others call the member.
  static tl::expected<member_keys, std::string> open(const std::filesystem::path& data_dir,
                                                     const std::string& host);

  // True when there is a new certificate; etcd reads them again for each connection.
  tl::expected<bool, std::string> renew();
  const server::x509::identity& authority() const noexcept { return authority_; }
  std::string authority_hash() const;
  // For the listener of machines that join.
  server::tls_material server() const;

 private:
  member_keys(std::filesystem::path directory, std::string host)
      : directory_{std::move(directory)}, host_{std::move(host)} {}

  std::filesystem::path directory_;
  std::string host_;
  server::x509::identity authority_, member_, client_;
};

// With the client's certificate.
persistence::etcd_options etcd_client(const std::filesystem::path& data_dir,
                                      std::vector<std::string> endpoints);

}  // namespace troupe::tools
