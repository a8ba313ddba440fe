// What a control plane that joins is given: the files of the authority and of the keys of service
// account tokens, and how etcd is reached. It travels sealed (credentials/sealed_text.hpp) in a
// Secret that belongs to the token which was made for it, as kubeadm's upload-certs does; the key
// is in the printed line alone. Pure but for the files.
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
  std::map<std::string, std::string> pki;  // by the name of the file
  std::vector<std::string> etcd_endpoints;
  // PEM; empty: none.
  std::string etcd_authority, etcd_certificate, etcd_key;
};

// Of the files in a control plane's pki/, those that all of a cluster share: the authority, the
// keys of service account tokens. The error names what is missing.
tl::expected<std::map<std::string, std::string>, std::string> read_shared_pki(
    const std::filesystem::path& directory);
// Whether a file of pki/ is one of these.
bool is_shared_pki(std::string_view file);

// As text, to be sealed; what is read back has an authority with its key, whose hash is
// `authority_hash`, and names of shared files alone.
std::string write_bundle(const control_plane_bundle& bundle);
tl::expected<control_plane_bundle, std::string> read_bundle(std::string_view text,
                                                            const std::string& authority_hash);

// The Secret kube-system/control-plane-ID of the token ID, whose own Secret has that uid; it goes
// with it.
std::string bundle_secret_name(std::string_view token_id);
std::unique_ptr<api::core::v1::Secret> write_bundle_secret(const std::string& token_id,
                                                           const std::string& token_uid,
                                                           const std::string& sealed);
// Empty: there is none in it.
std::string sealed_bundle(const api::core::v1::Secret& secret);

}  // namespace troupe::server
