// The content of PKCS#10 requests, and the rules of the signers. Pure functions.
//
// kubernetes: pkg/apis/certificates/helpers.go, pkg/controller/certificates/signer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/schema/certificates_v1.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors::certificates {

using api::certificates::v1::CertificateSigningRequest;
using api::certificates::v1::CertificateSigningRequestSpec;

inline constexpr std::string_view client_signer = "kubernetes.io/kube-apiserver-client";
inline constexpr std::string_view kubelet_client_signer =
    "kubernetes.io/kube-apiserver-client-kubelet";
inline constexpr std::string_view kubelet_serving_signer = "kubernetes.io/kubelet-serving";
inline constexpr std::string_view legacy_signer = "kubernetes.io/legacy-unknown";

// True for the four signers that are implemented here.
bool is_signed_here(std::string_view signer);

struct request_facts {
  std::string common_name;
  std::vector<std::string> organizations;
  bool dns_names = false, addresses = false, emails = false, uris = false;
};
// Reads a request in PEM. The error says why it is invalid.
tl::expected<request_facts, std::string> read_request(const std::string& pem);

// Why the signer rejects it, in upstream's wording; empty if it signs.
std::string find_fault(const CertificateSigningRequestSpec& spec, const request_facts& facts);

// The subresources of certificatesigningrequests that allow automatic approval of a kubelet's
// certificate: the requestor needs `create` on one of them. Empty: a person must decide. A node's
// request for itself comes first, before requests for any node.
std::vector<std::string_view> approved_by(const CertificateSigningRequestSpec& spec,
                                          const request_facts& facts);

struct certificate_lifetime {
  runtime::wall_time from, until;
};
certificate_lifetime lifetime_of(const CertificateSigningRequestSpec& spec, runtime::wall_time now);

// The expiry of a certificate in PEM in seconds since the epoch; nothing if it cannot be read.
std::optional<std::int64_t> end_of(const std::string& certificate);

// True if the request is outdated and can be deleted.
bool is_outdated(const CertificateSigningRequest& request, runtime::wall_time now);

}  // namespace troupe::actors::certificates
