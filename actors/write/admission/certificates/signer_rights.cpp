#include "actors/write/admission/certificates/signer_rights.hpp"

#include <string>

#include "actors/access/held_rules.hpp"

namespace troupe::actors::admission {

bool may_use_signer(const attributes& of, std::string_view verb, std::string_view signer) {
  // Our own controllers: compared by address, because a client may have any name.
  if (&of.by == &controllers()) return true;
  const access::identity who{of.by.name, of.by.groups};
  if (who.in_group(access::masters_group)) return true;
  const auto held = access::find_held_rules(of.state, who, {});
  const auto allows = [&](std::string_view name) {
    return held.allow(
        {.verb = verb, .group = "certificates.k8s.io", .resource = "signers", .name = name});
  };
  const auto domain = std::string{signer.substr(0, signer.find('/'))};
  return allows(signer) || allows(domain + "/*");
}

}  // namespace troupe::actors::admission
