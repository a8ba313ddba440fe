// Authorization of approving and signing CertificateSigningRequests: the verbs `approve` and `sign`
// on the resource `signers`, by signer name or DOMAIN/*. Pure functions of the state.
//
// kubernetes: plugin/pkg/admission/certificates/util.go.
#pragma once

#include <string_view>

#include "actors/write/admission/attributes.hpp"

namespace troupe::actors::admission {

bool may_use_signer(const attributes& of, std::string_view verb, std::string_view signer);

}  // namespace troupe::actors::admission
