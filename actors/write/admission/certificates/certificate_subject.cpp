// Sets the requesting user in a CertificateSigningRequest; its author cannot choose it.
//
// kubernetes: pkg/registry/certificates/certificates/strategy.go, PrepareForCreate.
#include "actors/write/admission/plugins.hpp"
#include "api/schema/certificates_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::certificates::v1::CertificateSigningRequest;

class certificate_subject final : public plugin {
 public:
  std::string_view name() const noexcept override { return "CertificateSubject"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::create && &kind == &api::kind_of<CertificateSigningRequest>();
  }

  verdict mutate(const attributes& of, api::body& now, persistence::transaction&) const override {
    auto& spec = *static_cast<CertificateSigningRequest&>(now).mutable_spec();
    spec.set_username(std::string{of.by.name});
    if (of.by.uid.empty())
      spec.clear_uid();
    else
      spec.set_uid(std::string{of.by.uid});
    spec.clear_groups();
    for (const auto& group : of.by.groups)
      spec.add_groups(group);
    spec.clear_extra();
    return {};
  }
};

}  // namespace

plugin_ptr make_certificate_subject() {
  return std::make_shared<certificate_subject>();
}

}  // namespace troupe::actors::admission
