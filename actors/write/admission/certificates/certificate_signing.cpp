// Only users with `sign` for a signer may write certificates or conditions to its requests: 403
// otherwise.
//
// kubernetes: plugin/pkg/admission/certificates/signing.
#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>

#include "actors/write/admission/certificates/signer_rights.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/schema/certificates_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::certificates::v1::CertificateSigningRequest;
using google::protobuf::util::MessageDifferencer;

bool same_status(const CertificateSigningRequest& now, const CertificateSigningRequest& before) {
  const auto& a = now.status();
  const auto& b = before.status();
  return a.certificate() == b.certificate() &&
         std::equal(a.conditions().begin(), a.conditions().end(), b.conditions().begin(),
                    b.conditions().end(),
                    [](const auto& x, const auto& y) { return MessageDifferencer::Equals(x, y); });
}

class certificate_signing final : public plugin {
 public:
  std::string_view name() const noexcept override { return "CertificateSigning"; }

  bool handles(const api::kind_info&, operation) const override { return false; }
  bool handles_part(const api::kind_info& kind, operation op) const override {
    return op == operation::update && &kind == &api::kind_of<CertificateSigningRequest>();
  }

  verdict validate(const attributes& of) const override {
    if (of.subresource != "status") return {};
    const auto& before = static_cast<const CertificateSigningRequest&>(*of.before);
    if (same_status(static_cast<const CertificateSigningRequest&>(*of.now), before)) return {};
    const auto& signer = before.spec().signer_name();
    if (may_use_signer(of, "sign", signer)) return {};
    return api::fail(forbidden(
        of, fmt::format("user not permitted to sign requests with signerName \"{}\"", signer)));
  }
};

}  // namespace

plugin_ptr make_certificate_signing() {
  return std::make_shared<certificate_signing>();
}

}  // namespace troupe::actors::admission
