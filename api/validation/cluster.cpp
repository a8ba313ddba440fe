// RuntimeClasses, CertificateSigningRequests, FlowSchemas and PriorityLevelConfigurations
// (kubernetes: pkg/apis/node, pkg/apis/certificates, pkg/apis/flowcontrol).
#include "api/validation/cluster.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "api/codec/quoted_list.hpp"
#include "api/validation/checks.hpp"
#include "api/values/base64.hpp"

namespace troupe::api::validation {
namespace {

using certificates::v1::CertificateSigningRequest;
using node::v1::RuntimeClass;
using namespace flowcontrol::v1;
using strings = google::protobuf::RepeatedPtrField<std::string>;

// Kubernetes, apiserver/pkg/util/shufflesharding: the hash of a flow chooses its hand of queues.
constexpr int most_hash_bits = 60;
// Kubernetes, flowcontrol/validation.
constexpr int most_queues = 10'000'000;
constexpr int highest_precedence = 10'000;

int bits_of_hand(int queues, int hand_size) {
  return static_cast<int>(std::ceil(std::log2(queues) * hand_size));
}

// Kubernetes, certificates/validation.
constexpr int shortest_certificate_seconds = 600;
constexpr std::array usages = {
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
};

void check_usages(field_errors& out, const strings& given) {
  if (given.empty()) return out.required("usages");
  std::set<std::string> seen;
  for (int i = 0; i < given.size(); ++i) {
    const auto step = out.at.item("usages", i);
    if (std::find(usages.begin(), usages.end(), given[i]) == usages.end())
      out.unsupported({}, given[i], usages);
    if (!seen.insert(given[i]).second) out.duplicate({}, given[i]);
  }
}

// DOMAIN/NAME; the domain has a dot.
void check_signer(field_errors& out, const std::string& name) {
  if (name.empty()) return;
  const auto slash = name.find('/');
  if (slash == std::string::npos || name.find('/', slash + 1) != std::string::npos)
    return out.invalid(
        "signerName", name,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  const auto domain = name.substr(0, slash);
  out.each("signerName", domain, check_dns_subdomain(domain));
  if (domain.find('.') == std::string::npos)
    out.invalid("signerName", domain,
                "should be a domain with at least two segments separated "
                "by dots");
  if (slash + 1 == name.size())
    out.invalid("signerName", name,
                "must be a fully qualified domain and path of the form "
                "'example.com/signer-name'");
}

bool is_request_in_pem(const std::string& text) {
  constexpr std::string_view begin = "-----BEGIN CERTIFICATE REQUEST-----";
  constexpr std::string_view end = "-----END CERTIFICATE REQUEST-----";
  const auto from = text.find(begin);
  const auto to = text.find(end);
  if (from == std::string::npos || to == std::string::npos || to < from + begin.size())
    return false;
  std::string inside = text.substr(from + begin.size(), to - from - begin.size());
  std::erase_if(inside, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  return !inside.empty() &&
         inside.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") ==
             std::string::npos;
}

bool has_condition(const CertificateSigningRequest& request, std::string_view type) {
  const auto& all = request.status().conditions();
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.type() == type; });
}

constexpr std::array flow_verbs = {"create", "delete", "deletecollection", "get",  "list",
                                   "patch",  "proxy",  "update",           "watch"};

bool has_wildcard(const strings& list) {
  return std::find(list.begin(), list.end(), "*") != list.end();
}

void check_wildcard(field_errors& out, std::string_view field, const strings& list,
                    std::string_view others) {
  if (list.size() > 1 && has_wildcard(list))
    out.invalid_json(field, quoted_list(list),
                     "if '*' is present, must not specify other " + std::string(others));
}

void check_verbs(field_errors& out, const strings& verbs) {
  const auto is_known = [](const auto& verb) {
    return std::find(flow_verbs.begin(), flow_verbs.end(), verb) != flow_verbs.end();
  };
  if (verbs.empty()) return out.required("verbs", "verbs must contain at least one value");
  check_wildcard(out, "verbs", verbs, "verbs");
  if (!has_wildcard(verbs) && !std::all_of(verbs.begin(), verbs.end(), is_known))
    out.unsupported_json("verbs", quoted_list(verbs), flow_verbs);
}

void check_account(field_errors& out, const ServiceAccountSubject& account) {
  const auto step = out.at.field("serviceAccount");
  if (!account.name().empty() && account.name() != "*")
    out.each("name", account.name(), check_dns_subdomain(account.name()));
  if (account.namespace_().empty())
    out.required("namespace", "must specify namespace for service account");
  else
    out.each("namespace", account.namespace_(), check_dns_label(account.namespace_()));
}

void check_subject(field_errors& out, const Subject& subject) {
  const auto look_at = [&](std::string_view kind, std::string_view field, bool present) {
    const bool meant = subject.kind() == kind;
    if (meant && !present)
      out.required(field, std::string(field) + " is required when subject kind is '" +
                              std::string(kind) + "'");
    if (!meant && present)
      out.forbidden(field, std::string(field) + " is forbidden when subject kind is not '" +
                               std::string(kind) + "'");
  };
  look_at("ServiceAccount", "serviceAccount", subject.has_service_account());
  look_at("User", "user", subject.has_user());
  look_at("Group", "group", subject.has_group());
  if (subject.has_service_account()) check_account(out, subject.service_account());
}

void check_resource_rule(field_errors& out, const ResourcePolicyRule& rule) {
  check_verbs(out, rule.verbs());
  if (rule.api_groups().empty())
    out.required("apiGroups", "resource rules must supply at least one api group");
  check_wildcard(out, "apiGroups", rule.api_groups(), "api groups");
  if (rule.resources().empty())
    out.required("resources", "resource rules must supply at least one resource");
  check_wildcard(out, "resources", rule.resources(), "resources");
  if (rule.namespaces().empty() && !rule.cluster_scope())
    out.required("namespaces",
                 "resource rules that are not cluster scoped must supply at least one namespace");
  check_wildcard(out, "namespaces", rule.namespaces(), "namespaces");
  for (int i = 0; i < rule.namespaces_size() && !has_wildcard(rule.namespaces()); ++i) {
    const auto step = out.at.item("namespaces", i);
    for (const auto& complaint : check_dns_label(rule.namespaces(i)))
      out.invalid({}, rule.namespaces(i),
                  "each member of this list must be '*' or a DNS-1123 label; " + complaint);
  }
}

// A * may only stand for the rest of a path.
std::string_view objection_to_path(const std::string& path) {
  if (path.empty()) return "must not be empty";
  if (path == "/") return {};
  if (path.front() != '/') return "must start with slash";
  if (path.find(' ') != path.npos) return "must not contain white-space";
  if (path.find("//") != path.npos) return "must not contain double slash";
  const auto star = path.find('*');
  const bool is_last = star == path.npos || (star + 1 == path.size() && path[star - 1] == '/');
  return is_last ? std::string_view{} : "wildcard can only do suffix matching";
}

void check_path_rule(field_errors& out, const NonResourcePolicyRule& rule) {
  check_verbs(out, rule.verbs());
  const auto& paths = rule.non_resource_urls();
  if (paths.empty())
    out.required("nonResourceURLs", "nonResourceURLs must contain at least one value");
  check_wildcard(out, "nonResourceURLs", paths, "non-resource URLs");
  for (int i = 0; i < paths.size() && !has_wildcard(paths); ++i) {
    const auto step = out.at.item("nonResourceURLs", i);
    if (const auto objection = objection_to_path(paths[i]); !objection.empty())
      out.invalid({}, paths[i], objection);
  }
}

void check_requests(field_errors& out, const PolicyRulesWithSubjects& rule) {
  if (rule.subjects().empty()) out.required("subjects", "subjects must contain at least one value");
  for (int i = 0; i < rule.subjects_size(); ++i) {
    const auto step = out.at.item("subjects", i);
    check_subject(out, rule.subjects(i));
  }
  if (rule.resource_rules().empty() && rule.non_resource_rules().empty())
    out.required({}, "at least one of resourceRules and nonResourceRules has to be non-empty");
  for (int i = 0; i < rule.resource_rules_size(); ++i) {
    const auto step = out.at.item("resourceRules", i);
    check_resource_rule(out, rule.resource_rules(i));
  }
  for (int i = 0; i < rule.non_resource_rules_size(); ++i) {
    const auto step = out.at.item("nonResourceRules", i);
    check_path_rule(out, rule.non_resource_rules(i));
  }
}

void check_positive(field_errors& out, std::string_view field, std::int64_t value) {
  if (value < 1) out.invalid(field, value, "must be positive");
}

void check_shares(field_errors& out, std::int64_t shares) {
  if (shares < 0) out.invalid("nominalConcurrencyShares", shares, "must be a non-negative integer");
}

void check_response(field_errors& out, const LimitResponse& response) {
  const auto step = out.at.field("limitResponse");
  if (response.type() == "Reject" && response.has_queuing())
    out.forbidden("queuing", "must be nil if limited.limitResponse.type is not Limited");
  if (response.type() == "Queue" && !response.has_queuing())
    out.required("queuing", "must not be empty if limited.limitResponse.type is Limited");
  if (!response.has_queuing()) return;
  const auto inner = out.at.field("queuing");
  const auto& queuing = response.queuing();
  check_positive(out, "queueLengthLimit", queuing.queue_length_limit());
  check_positive(out, "queues", queuing.queues());
  if (queuing.queues() > most_queues)
    out.invalid("queues", queuing.queues(),
                "must not be greater than " + std::to_string(most_queues));
  check_positive(out, "handSize", queuing.hand_size());
  if (queuing.hand_size() < 1 || queuing.queues() < 1) return;
  if (queuing.hand_size() > queuing.queues())
    out.invalid("handSize", queuing.hand_size(),
                "should not be greater than queues (" + std::to_string(queuing.queues()) + ")");
  else if (bits_of_hand(queuing.queues(), queuing.hand_size()) > most_hash_bits)
    out.invalid("handSize", queuing.hand_size(),
                "required entropy bits of deckSize " + std::to_string(queuing.queues()) +
                    " and handSize " + std::to_string(queuing.hand_size()) +
                    " should not be greater than " + std::to_string(most_hash_bits));
}

}  // namespace

void check(field_errors& out, const RuntimeClass& object) {
  check_overhead(out, object.overhead().pod_fixed());
  if (!object.has_scheduling()) return;
  const auto step = out.at.field("scheduling");
  check_labels(out, "nodeSelector", object.scheduling().node_selector());
}

void check(field_errors& out, const CertificateSigningRequest& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  if (!spec.request().empty() && !is_request_in_pem(spec.request())) {
    std::string shown;
    append_base64(shown, spec.request());
    out.invalid("request", shown, "PEM block type must be CERTIFICATE REQUEST");
  }
  check_usages(out, spec.usages());
  check_signer(out, spec.signer_name());
  if (spec.has_expiration_seconds() && spec.expiration_seconds() < shortest_certificate_seconds)
    out.invalid("expirationSeconds", spec.expiration_seconds(),
                "may not specify a duration less than 600 seconds (10 minutes)");
}

void check_create(field_errors& out, const CertificateSigningRequest& object) {
  const auto step = out.at.field("spec");
  if (object.spec().signer_name() == "kubernetes.io/legacy-unknown")
    out.invalid("signerName", object.spec().signer_name(),
                "the legacy signerName is not allowed via this API version");
}

void check_status(field_errors& out, const CertificateSigningRequest& now,
                  const CertificateSigningRequest& was) {
  const auto step = out.at.field("status");
  std::set<std::string> types;
  for (int i = 0; i < now.status().conditions_size(); ++i) {
    const auto inner = out.at.item("conditions", i);
    const auto& condition = now.status().conditions(i);
    const bool known = condition.type() == "Approved" || condition.type() == "Denied" ||
                       condition.type() == "Failed";
    if (known && condition.status() != "True")
      out.unsupported("status", condition.status(),
                      std::initializer_list<std::string_view>{"True"});
    if (!types.insert(condition.type()).second) out.duplicate("type", condition.type());
  }
  if (types.contains("Approved") && types.contains("Denied"))
    out.invalid_json("conditions", "[]", "Approved and Denied conditions are mutually exclusive");
  for (const auto* type : {"Approved", "Denied", "Failed"})
    if (has_condition(was, type) && !types.contains(type))
      out.forbidden("conditions",
                    "updates may not remove a condition of type \"" + std::string(type) + "\"");
  if (!was.status().certificate().empty() &&
      now.status().certificate() != was.status().certificate())
    out.forbidden("certificate", "updates may not set certificate content more than once");
}

void check(field_errors& out, const FlowSchema& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  const auto precedence = spec.matching_precedence();
  if (precedence < 1) out.invalid("matchingPrecedence", precedence, "must be a positive value");
  if (precedence > highest_precedence)
    out.invalid("matchingPrecedence", precedence,
                "must not be greater than " + std::to_string(highest_precedence));
  if (precedence == 1 && object.metadata().name() != "exempt")
    out.invalid("matchingPrecedence", 1,
                "only the schema named 'exempt' may have matchingPrecedence 1");
  const auto& method = spec.distinguisher_method().type();
  if (spec.has_distinguisher_method() && method != "ByNamespace" && method != "ByUser")
    out.unsupported_json("distinguisherMethod.type", R"({"Type":)" + quoted(method) + "}",
                         std::array{"ByNamespace", "ByUser"});
  if (spec.priority_level_configuration().name().empty())
    out.required("priorityLevelConfiguration.name", "must reference a priority level");
  for (int i = 0; i < spec.rules_size(); ++i) {
    const auto inner = out.at.item("rules", i);
    check_requests(out, spec.rules(i));
  }
}

void check(field_errors& out, const PriorityLevelConfiguration& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  if ((object.metadata().name() == "exempt") != (spec.type() == "Exempt"))
    out.invalid("type", spec.type(), "type must be 'Exempt' if and only if name is 'exempt'");
  if (spec.type() == "Exempt") {
    if (spec.has_limited()) out.forbidden("limited", "must be nil if the type is not Limited");
    const auto inner = out.at.field("exempt");
    check_shares(out, spec.exempt().nominal_concurrency_shares());
  }
  if (spec.type() == "Limited") {
    if (spec.has_exempt()) out.forbidden("exempt", "must be nil if the type is Limited");
    if (!spec.has_limited())
      return out.required("limited", "must not be empty when type is Limited");
    const auto inner = out.at.field("limited");
    const auto& limited = spec.limited();
    check_shares(out, limited.nominal_concurrency_shares());
    if (limited.borrowing_limit_percent() < 0)
      out.invalid("borrowingLimitPercent", limited.borrowing_limit_percent(),
                  "if specified, must be a non-negative integer");
    check_response(out, limited.limit_response());
  }
}

}  // namespace troupe::api::validation
