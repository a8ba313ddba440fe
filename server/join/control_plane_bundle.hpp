// The data that a joining control plane needs: the files of the authority and of the service
// account keys, and the access to etcd. It is stored encrypted (credentials/sealed_text.hpp) in a
// Secret owned by the join token made for it, as kubeadm's upload-certs does; only the printed line
// has the key. Pure except for the files.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/schema/core_config.pb.h"

namespace troupe::server {

struct control_plane_bundle {
  std::map<std::string, std::string> pki;  // by file name
  std::vector<std::string> etcd_endpoints;
  // PEM; empty: none.
  std::string etcd_authority, etcd_certificate, etcd_key;
};

// Reads the files in a control plane's pki/ that all control planes share: the authority, the
// service account keys. The error names a missing file.
tl::expected<std::map<std::string, std::string>, std::string> read_shared_pki(
    const std::filesystem::path& directory);
// Whether the file of pki/ is shared.
bool is_shared_pki(std::string_view file);

// The text to encrypt. read_bundle checks that it has an authority with its key, that its hash is
// `authority_hash`, and that all names are those of shared files.
std::string write_bundle(const control_plane_bundle& bundle);
tl::expected<control_plane_bundle, std::string> read_bundle(std::string_view text,
                                                            const std::string& authority_hash);

// The Secret kube-system/control-plane-ID for the token ID. The token's Secret with that uid owns
// it, so both are deleted together.
std::string bundle_secret_name(std::string_view token_id);
std::unique_ptr<api::core::v1::Secret> write_bundle_secret(const std::string& token_id,
                                                           const std::string& token_uid,
                                                           const std::string& sealed);
// Empty if the Secret has none.
std::string sealed_bundle(const api::core::v1::Secret& secret);

}  // namespace troupe::server
