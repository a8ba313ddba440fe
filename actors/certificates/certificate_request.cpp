#include "actors/certificates/certificate_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "actors/access/node_identity.hpp"
#include "actors/certificates/defaults.hpp"
#include "actors/core/condition.hpp"

namespace troupe::actors::certificates {
namespace {

using usage_set = std::set<std::string, std::less<>>;

constexpr std::array signers{client_signer, kubelet_client_signer, kubelet_serving_signer,
                             legacy_signer};

usage_set usages_of(const CertificateSigningRequestSpec& spec) {
  return {spec.usages().begin(), spec.usages().end()};
}

// Exactly these usages, with or without key encipherment, which EC keys do not support.
std::string check_usages(const CertificateSigningRequestSpec& spec, const char* purpose) {
  auto given = usages_of(spec);
  given.erase("key encipherment");
  if (given == usage_set{"digital signature", purpose}) return {};
  const usage_set all{"digital signature", "key encipherment", purpose};
  return fmt::format("usages did not match [{}]", fmt::join(all, " "));
}

std::string check_node(const request_facts& facts) {
  if (facts.organizations != std::vector<std::string>{std::string{nodes_group}})
    return "subject organization is not system:nodes";
  if (!facts.common_name.starts_with(node_user_prefix))
    return "subject common name does not begin with system:node:";
  return {};
}

std::string check_kubelet_client(const CertificateSigningRequestSpec& spec,
                                 const request_facts& facts) {
  if (auto fault = check_node(facts); !fault.empty()) return fault;
  if (facts.dns_names) return "DNS subjectAltNames are not allowed";
  if (facts.emails) return "Email subjectAltNames are not allowed";
  if (facts.addresses) return "IP subjectAltNames are not allowed";
  if (facts.uris) return "URI subjectAltNames are not allowed";
  return check_usages(spec, "client auth");
}

std::string check_kubelet_server(const CertificateSigningRequestSpec& spec,
                                 const request_facts& facts) {
  if (auto fault = check_node(facts); !fault.empty()) return fault;
  if (!facts.dns_names && !facts.addresses) return "DNS or IP subjectAltName is required";
  if (facts.emails) return "Email subjectAltNames are not allowed";
  if (facts.uris) return "URI subjectAltNames are not allowed";
  return check_usages(spec, "server auth");
}

std::string check_client(const CertificateSigningRequestSpec& spec) {
  for (const auto& usage : spec.usages())
    if (usage != "digital signature" && usage != "key encipherment" && usage != "client auth")
      return "invalid usage for client certificate: " + usage;
  if (!usages_of(spec).contains("client auth"))
    return "missing required usage for client certificate: client auth";
  return {};
}

}  // namespace

bool is_signed_here(std::string_view signer) {
  return std::find(signers.begin(), signers.end(), signer) != signers.end();
}

std::string find_fault(const CertificateSigningRequestSpec& spec, const request_facts& facts) {
  if (spec.signer_name() == kubelet_client_signer) return check_kubelet_client(spec, facts);
  if (spec.signer_name() == kubelet_serving_signer) return check_kubelet_server(spec, facts);
  if (spec.signer_name() == client_signer) return check_client(spec);
  return {};
}

std::vector<std::string_view> approved_by(const CertificateSigningRequestSpec& spec,
                                          const request_facts& facts) {
  if (spec.signer_name() != kubelet_client_signer || !check_kubelet_client(spec, facts).empty())
    return {};
  const auto& groups = spec.groups();
  if (std::find(groups.begin(), groups.end(), joined_nodes_group) != groups.end()) return {};
  if (spec.username() == facts.common_name) return {"selfnodeclient", "nodeclient"};
  return {"nodeclient"};
}

certificate_lifetime lifetime_of(const CertificateSigningRequestSpec& spec,
                                 runtime::wall_time now) {
  auto lifetime = defaults::longest_lifetime;
  if (spec.has_expiration_seconds())
    lifetime = std::clamp(std::chrono::seconds{spec.expiration_seconds()},
                          defaults::shortest_lifetime, defaults::longest_lifetime);
  const auto from = now - defaults::backdated;
  return {from, lifetime < defaults::short_lifetime ? now + lifetime : from + lifetime};
}

bool is_outdated(const CertificateSigningRequest& request, runtime::wall_time now) {
  const auto& status = request.status();
  const auto older_than = [&](std::int64_t since_seconds, std::chrono::seconds limit) {
    return seconds_of(now) - since_seconds > limit.count();
  };
  if (const auto end = end_of(status.certificate()); end && *end <= seconds_of(now)) return true;
  const auto made = request.metadata().creation_timestamp().seconds();
  for (const auto& condition : status.conditions()) {
    // The decision may have no time.
    const auto since =
        condition.has_last_update_time() ? condition.last_update_time().seconds() : made;
    if (older_than(since, defaults::decided_kept)) return true;
  }
  return status.conditions().empty() && older_than(made, defaults::pending_kept);
}

}  // namespace troupe::actors::certificates
