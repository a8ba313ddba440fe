// Rejects client certificate requests for the group system:masters with 403, so that nobody becomes
// an administrator by a request.
//
// kubernetes: plugin/pkg/admission/certificates/subjectrestriction.
#include <algorithm>

#include "actors/access/rules.hpp"
#include "actors/certificates/certificate_request.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/schema/certificates_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::certificates::v1::CertificateSigningRequest;

class certificate_subject_restriction final : public plugin {
 public:
  std::string_view name() const noexcept override { return "CertificateSubjectRestriction"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::create && &kind == &api::kind_of<CertificateSigningRequest>();
  }

  verdict validate(const attributes& of) const override {
    const auto& spec = static_cast<const CertificateSigningRequest&>(*of.now).spec();
    if (spec.signer_name() != certificates::client_signer) return {};
    const auto request = certificates::read_request(spec.request());
    if (!request) return api::fail(forbidden(of, "failed to parse CSR: " + request.error()));
    const auto& groups = request->organizations;
    if (std::find(groups.begin(), groups.end(), access::masters_group) == groups.end()) return {};
    return api::fail(forbidden(of,
                               "use of kubernetes.io/kube-apiserver-client signer with "
                               "system:masters group is not allowed"));
  }
};

}  // namespace

plugin_ptr make_certificate_subject_restriction() {
  return std::make_shared<certificate_subject_restriction>();
}

}  // namespace troupe::actors::admission
