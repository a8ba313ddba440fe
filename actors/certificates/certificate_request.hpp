// What a PKCS#10 request asks for, and who signs which of them under which rules. Pure functions.
//
// kubernetes: pkg/apis/certificates/helpers.go, pkg/controller/certificates/signer.
#pragma once

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

// One of the four whose requests are signed here.
bool is_signed_here(std::string_view signer);

struct request_facts {
  std::string common_name;
  std::vector<std::string> organizations;
  bool dns_names = false, addresses = false, emails = false, uris = false;
};
// Of a request in PEM form. The error says what is wrong with it.
tl::expected<request_facts, std::string> read_request(const std::string& pem);

// Why the signer does not sign it, in upstream's words; empty: it does.
std::string find_fault(const CertificateSigningRequestSpec& spec, const request_facts& facts);

// Whom a request for the certificate of a kubelet is approved for without a person: whoever may
// `create` this subresource of certificatesigningrequests. Empty: it is for a person to decide.
// A node that asks for itself is in front of one who may ask for any.
std::vector<std::string_view> approved_by(const CertificateSigningRequestSpec& spec,
                                          const request_facts& facts);

struct certificate_life {
  runtime::wall_time from, until;
};
certificate_life life_of(const CertificateSigningRequestSpec& spec, runtime::wall_time now);

// When a certificate in PEM form ends; nothing: it cannot be read.
std::optional<runtime::wall_time> end_of(const std::string& certificate);

// Whether nobody needs the request any more.
bool is_outdated(const CertificateSigningRequest& request, runtime::wall_time now);

}  // namespace troupe::actors::certificates
