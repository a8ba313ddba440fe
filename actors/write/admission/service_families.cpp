#include "actors/write/admission/service_families.hpp"

#include <algorithm>
#include <string>

#include "api/codec/quoted_list.hpp"
#include "api/values/cidr.hpp"
#include "api/values/service_spec.hpp"

namespace troupe::actors {
namespace {

using api::is_headless;
using api::core::v1::Service;
using api::core::v1::ServiceSpec;
using std::ranges::equal;

constexpr const char* single = "SingleStack";
constexpr const char* prefer = "PreferDualStack";
constexpr const char* require = "RequireDualStack";

// Whether the second of two entries was removed and the first is unchanged.
template <class List>
bool reduced(const List& now, const List& was) {
  return now.size() == 1 && was.size() == 2 && now.Get(0) == was.Get(0);
}

// Such a Service may have endpoints of any family: the author of its slices decides.
bool is_headless_without_selector(const ServiceSpec& spec) {
  return is_headless(spec) && spec.selector().empty();
}

// A Service with PreferDualStack keeps its families, whatever families the cluster has now.
bool is_as_it_was(const ServiceSpec& now, const ServiceSpec& was) {
  return now.ip_family_policy() == prefer && was.ip_family_policy() == prefer &&
         equal(now.cluster_ips(), was.cluster_ips()) && equal(now.ip_families(), was.ip_families());
}

void default_policy(ServiceSpec& spec, const Service* was) {
  if (spec.has_ip_family_policy()) return;
  if (was && was->spec().has_ip_family_policy())
    spec.set_ip_family_policy(was->spec().ip_family_policy());
  else
    spec.set_ip_family_policy(is_headless_without_selector(spec) ? require : single);
}

// The policy SingleStack releases second entries; under another policy their removal is an error.
void release_second(ServiceSpec& now, const ServiceSpec& was, api::field_errors& found) {
  const auto policy = now.ip_family_policy();
  if (policy == single) {
    if (equal(now.cluster_ips(), was.cluster_ips()) && now.cluster_ips_size() == 2)
      now.mutable_cluster_ips()->RemoveLast();
    if (equal(now.ip_families(), was.ip_families()) && now.ip_families_size() == 2)
      now.mutable_ip_families()->RemoveLast();
    return;
  }
  if (reduced(now.cluster_ips(), was.cluster_ips()))
    found.invalid("spec.ipFamilyPolicy", policy,
                  "must be 'SingleStack' to release the secondary cluster IP");
  if (reduced(now.ip_families(), was.ip_families()))
    found.invalid("spec.ipFamilyPolicy", policy,
                  "must be 'SingleStack' to release the secondary IP family");
}

void check_single(const ServiceSpec& spec, api::field_errors& found) {
  if (spec.ip_family_policy() != single) return;
  if (spec.cluster_ips_size() == 2)
    found.invalid("spec.ipFamilyPolicy", single,
                  "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are "
                  "specified");
  if (spec.ip_families_size() == 2)
    found.invalid("spec.ipFamilyPolicy", single,
                  "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are "
                  "specified");
}

// Adds the families of the addresses that the Service names.
void add_families_of_addresses(ServiceSpec& spec, bool dual, api::field_errors& found) {
  for (int i = spec.ip_families_size(); i < spec.cluster_ips_size() && !is_headless(spec); ++i) {
    const std::string family{api::ip_family(spec.cluster_ips(i))};
    if (family == "IPv6" && !dual)
      found.invalid_json("spec.clusterIPs[" + std::to_string(i) + "]",
                         api::quoted_list(spec.cluster_ips()),
                         family + " is not configured on this cluster");
    else
      spec.add_ip_families(family);
  }
}

void check_against_cluster(const ServiceSpec& spec, bool dual, api::field_errors& found) {
  if (dual) return;
  if (spec.ip_family_policy() == require)
    found.invalid("spec.ipFamilyPolicy", require,
                  "this cluster is not configured for dual-stack services");
  for (int i = 0; i < spec.ip_families_size(); ++i)
    if (spec.ip_families(i) == "IPv6")
      found.invalid("spec.ipFamilies[" + std::to_string(i) + "]", spec.ip_families(i),
                    "not configured on this cluster");
}

}  // namespace

void choose_families(Service& service, const Service* was, bool dual, api::field_errors& found) {
  auto& spec = *service.mutable_spec();
  if (was && is_as_it_was(spec, was->spec())) return;
  default_policy(spec, was);
  if (was) release_second(spec, was->spec(), found);
  check_single(spec, found);
  add_families_of_addresses(spec, dual, found);
  const bool any = is_headless_without_selector(spec);
  if (!any && found.empty()) check_against_cluster(spec, dual, found);
  if (!found.empty()) return;
  if (spec.ip_families().empty()) spec.add_ip_families("IPv4");
  if (spec.ip_family_policy() != single && spec.ip_families_size() == 1 && (any || dual))
    spec.add_ip_families(spec.ip_families(0) == "IPv4" ? "IPv6" : "IPv4");
}

}  // namespace troupe::actors
