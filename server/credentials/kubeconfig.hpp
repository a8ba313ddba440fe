// The kubeconfig for kubectl and client libraries: all data embedded, one context "troupe".
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "server/credentials/x509.hpp"
#include "server/http/endpoint.hpp"

namespace troupe::server {

// The text of the file. For a server on all addresses it uses the loopback address.
std::string kubeconfig(const endpoint& server, std::string_view authority,
                       const x509::identity& client);

// The credentials of a client; certificates and keys as PEM, empty if absent.
struct cluster_access {
  std::string server;  // the URL
  std::string authority;
  std::string certificate;
  std::string private_key;
  std::string token;
};

// The text of the file for a user: omits empty fields of `access`.
std::string kubeconfig(const cluster_access& access, std::string_view user);

// Reads at most `defaults::named_file_bytes`; the file may be a pipe. The error names the file.
tl::expected<std::string, std::string> read_file(const std::filesystem::path& path);

// The current context of any kubeconfig. The error is one line that names the file.
tl::expected<cluster_access, std::string> read_kubeconfig(const std::filesystem::path& path);

}  // namespace troupe::server
