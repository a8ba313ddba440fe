// Who may approve and sign requests for a certificate of a signer: the verbs `approve` and `sign`
// of the resource `signers`, by the name of the signer or by DOMAIN/*. Pure functions of the state.
//
// kubernetes: plugin/pkg/admission/certificates/util.go.
#pragma once

#include <string_view>

#include "actors/write/admission/attributes.hpp"

namespace troupe::actors::admission {

bool may_use_signer(const attributes& of, std::string_view verb, std::string_view signer);

}  // namespace troupe::actors::admission
