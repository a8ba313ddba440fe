// Only users with `approve` for a signer may approve or deny its requests: 403.
//
// kubernetes: plugin/pkg/admission/certificates/approval.
#include <fmt/format.h>

#include "actors/write/admission/certificates/signer_rights.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/schema/certificates_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::certificates::v1::CertificateSigningRequest;

class certificate_approval final : public plugin {
 public:
  std::string_view name() const noexcept override { return "CertificateApproval"; }

  bool handles(const api::kind_info&, operation) const override { return false; }
  bool handles_part(const api::kind_info& kind, operation op) const override {
    return op == operation::update && &kind == &api::kind_of<CertificateSigningRequest>();
  }

  verdict validate(const attributes& of) const override {
    if (of.subresource != "approval") return {};
    const auto& signer = static_cast<const CertificateSigningRequest&>(*of.before).spec();
    if (may_use_signer(of, "approve", signer.signer_name())) return {};
    return api::fail(
        forbidden(of, fmt::format("user not permitted to approve requests with signerName \"{}\"",
                                  signer.signer_name())));
  }
};

}  // namespace

plugin_ptr make_certificate_approval() {
  return std::make_shared<certificate_approval>();
}

}  // namespace troupe::actors::admission
