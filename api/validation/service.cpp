// Services and their endpoints.
#include <algorithm>
#include <array>
#include <set>

#include "api/codec/quoted_list.hpp"
#include "api/validation/checks.hpp"
#include "api/values/cidr.hpp"
#include "api/values/service_spec.hpp"

namespace troupe::api::validation {
namespace {

using namespace core::v1;

// Kubernetes, core/validation: MaxClientIPServiceAffinitySeconds.
constexpr int longest_affinity_seconds = 86'400;

bool reached_from_outside(const ServiceSpec& spec) {
  return spec.type() == "NodePort" || spec.type() == "LoadBalancer";
}

void check_target(field_errors& out, const intstr::IntOrString& target) {
  if (target.type() == 0) {
    for (const auto& complaint : check_port_number(target.int_val()))
      out.invalid("targetPort", target.int_val(), complaint);
  } else {
    out.each("targetPort", target.str_val(), check_port_name(target.str_val()));
  }
}

void check_ports(field_errors& out, const ServiceSpec& spec) {
  if (spec.ports().empty() && !is_headless(spec) && spec.type() != "ExternalName")
    out.required("ports");
  std::set<std::string_view> names;
  std::set<std::string> numbers, node_ports;
  for (int i = 0; i < spec.ports_size(); ++i) {
    const auto step = out.at.item("ports", i);
    const auto& port = spec.ports(i);
    if (port.name().empty() && spec.ports_size() > 1) out.required("name");
    if (!port.name().empty() && !names.insert(port.name()).second)
      out.duplicate("name", port.name());
    if (port.has_target_port()) check_target(out, port.target_port());
    const auto number = port.protocol() + "/" + std::to_string(port.port());
    if (!numbers.insert(number).second) out.duplicate({}, number);
    if (port.node_port() == 0) continue;
    if (!reached_from_outside(spec))
      out.forbidden("nodePort", "may not be used when `type` is '" + spec.type() + "'");
    const auto node_port = port.protocol() + "/" + std::to_string(port.node_port());
    if (!node_ports.insert(node_port).second) out.duplicate("nodePort", node_port);
  }
}

// Kubernetes, core/validation: ValidateNonSpecialIP. An invalid address has no such error.
error_messages check_not_special_ip(const std::string& ip) {
  struct special_range {
    const char *v4, *v6, *complaint;
  };
  static constexpr special_range ranges[] = {
      {"0.0.0.0/32", "::/128", "may not be unspecified (0.0.0.0 or ::)"},
      {"127.0.0.0/8", "::1/128", "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
      {"169.254.0.0/16", "fe80::/10",
       "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
      {"224.0.0.0/24", "ff02::/16",
       "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"}};
  error_messages found;
  const bool v6 = ip_family(ip) == "IPv6";
  const auto address = cidr::parse(ip + (v6 ? "/128" : "/32"));
  if (!address) return found;
  for (const auto& range : ranges)
    if (cidr::parse(v6 ? range.v6 : range.v4)->contains(*address))
      found.emplace_back(range.complaint);
  return found;
}

void check_addresses(field_errors& out, const ServiceSpec& spec) {
  const auto check_cluster_ip = [&](const std::string& ip) {
    if (ip != "None") out.each({}, ip, check_ip(ip));
  };
  // Only the single field may be empty: an address is then chosen.
  if (!spec.cluster_ip().empty()) {
    const auto step = out.at.field("clusterIP");
    check_cluster_ip(spec.cluster_ip());
  }
  for (int i = 0; i < spec.cluster_ips_size(); ++i) {
    const auto step = out.at.item("clusterIPs", i);
    check_cluster_ip(spec.cluster_ips(i));
  }
  if (!spec.cluster_ips().empty() && spec.cluster_ips(0) != spec.cluster_ip())
    out.invalid("clusterIPs", spec.cluster_ips(0), "first value must match `clusterIP`");
  for (int i = 0; i < spec.external_ips_size(); ++i) {
    const auto step = out.at.item("externalIPs", i);
    out.each({}, spec.external_ips(i), check_ip(spec.external_ips(i)));
    out.each({}, spec.external_ips(i), check_not_special_ip(spec.external_ips(i)));
  }
  if (is_headless(spec) && reached_from_outside(spec)) {
    const auto step = out.at.item("clusterIPs", 0);
    out.invalid({}, "None", "may not be set to 'None' for " + spec.type() + " services");
  }
}

// One address of each family, in the order of the families.
void check_families(field_errors& out, const ServiceSpec& spec) {
  const auto &ips = spec.cluster_ips(), &families = spec.ip_families();
  const auto invalid = [&](std::string_view detail) {
    out.invalid_json("clusterIPs", quoted_list(ips), detail);
  };
  for (int i = 0; i < families.size(); ++i) {
    const auto step = out.at.item("ipFamilies", i);
    if (families[i] != "IPv4" && families[i] != "IPv6")
      out.unsupported({}, families[i], std::array{"IPv4", "IPv6"});
    else if (std::count(families.begin(), families.begin() + i, families[i]) > 0)
      out.duplicate({}, families[i]);
  }
  if (ips.size() > 2) invalid("may only hold up to 2 values");
  if (ips.size() > 1 && ips[0] == "None") return invalid("'None' must be the first and only value");
  if (std::any_of(ips.begin(), ips.end(), [](const auto& ip) { return ip_family(ip).empty(); }))
    return;
  if (ips.size() == 2 && ip_family(ips[0]) == ip_family(ips[1]))
    invalid("may specify no more than one IP for each IP family");
  for (int i = 0; i < std::min(ips.size(), families.size()); ++i) {
    const auto step = out.at.item("clusterIPs", i);
    if (ip_family(ips[i]) != families[i])
      out.invalid({}, ips[i],
                  "expected an " + families[i] + " value as indicated by `ipFamilies[" +
                      std::to_string(i) + "]`");
  }
}

void check_external_name(field_errors& out, const ServiceSpec& spec) {
  if (spec.type() != "ExternalName") return;
  std::string name = spec.external_name();
  if (name.ends_with('.')) name.pop_back();
  if (name.empty())
    out.required("externalName");
  else
    out.each("externalName", spec.external_name(), check_dns_subdomain(name));
  if (!spec.cluster_ip().empty())
    out.forbidden("clusterIPs[0]", "may not be set for ExternalName services");
  if (!spec.ip_families().empty())
    out.forbidden("ipFamilies[0]", "may not be set for ExternalName services");
  if (spec.has_ip_family_policy())
    out.forbidden("ipFamilyPolicy", "may not be set for ExternalName services");
}

void check_affinity(field_errors& out, const ServiceSpec& spec) {
  if (spec.session_affinity() != "ClientIP") return;
  const auto seconds = spec.session_affinity_config().client_ip().timeout_seconds();
  if (seconds >= 1 && seconds <= longest_affinity_seconds) return;
  const auto step = out.at.field("sessionAffinityConfig");
  const auto inner = out.at.field("clientIP");
  out.invalid("timeoutSeconds", seconds,
              "must be greater than 0 and less than " + std::to_string(longest_affinity_seconds));
}

// The fields that only load balancers have.
void check_balancing(field_errors& out, const ServiceSpec& spec) {
  constexpr std::string_view misplaced = "may only be used when `type` is 'LoadBalancer'";
  const bool balanced = spec.type() == "LoadBalancer";
  if (!spec.load_balancer_source_ranges().empty() && !balanced)
    out.forbidden("LoadBalancerSourceRanges", misplaced);
  for (int i = 0; i < spec.load_balancer_source_ranges_size(); ++i) {
    // Upstream's path begins with a capital letter; blanks around a range are permitted.
    const auto step = out.at.item("LoadBalancerSourceRanges", i);
    std::string_view range = spec.load_balancer_source_ranges(i);
    while (range.starts_with(' '))
      range.remove_prefix(1);
    while (range.ends_with(' '))
      range.remove_suffix(1);
    out.each({}, range, check_cidr(range));
  }
  if (spec.has_allocate_load_balancer_node_ports() && !balanced)
    out.forbidden("allocateLoadBalancerNodePorts", misplaced);
  if (spec.has_load_balancer_class() && !balanced) out.forbidden("loadBalancerClass", misplaced);
  if (spec.health_check_node_port() != 0 &&
      !(balanced && spec.external_traffic_policy() == "Local"))
    out.invalid("healthCheckNodePort", spec.health_check_node_port(),
                "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is "
                "'Local'");
}

}  // namespace

void check_service(field_errors& out, const Service& service) {
  const auto step = out.at.field("spec");
  const auto& spec = service.spec();
  check_ports(out, spec);
  check_labels(out, "selector", spec.selector());
  check_addresses(out, spec);
  check_families(out, spec);
  check_external_name(out, spec);
  check_affinity(out, spec);
  if (!spec.external_traffic_policy().empty() && !reached_from_outside(spec) &&
      spec.external_ips().empty())
    out.invalid("externalTrafficPolicy", spec.external_traffic_policy(),
                "may only be set for externally-accessible services");
}

void check_service_create(field_errors& out, const Service& service) {
  const auto step = out.at.field("spec");
  check_balancing(out, service.spec());
}

void check_service_update(field_errors& out, const Service& now, const Service& was) {
  // Services from before these rules can still be changed.
  field_errors before;
  check_balancing(before, was.spec());
  if (before.empty()) check_service_create(out, now);
  const bool had_address = was.spec().type() != "ExternalName" && !was.spec().cluster_ip().empty();
  if (!had_address || now.spec().type() == "ExternalName") return;
  const auto step = out.at.field("spec");
  if (now.spec().cluster_ip() != was.spec().cluster_ip())
    out.invalid("clusterIPs[0]", now.spec().cluster_ip(), "may not change once set");
  const auto check_list = [&](std::string_view field, const auto& list, const auto& before,
                              int from) {
    for (int i = from; i < std::min(list.size(), before.size()); ++i)
      if (list[i] != before[i])
        out.invalid(std::string{field} + "[" + std::to_string(i) + "]", list[i],
                    "may not change once set");
  };
  check_list("clusterIPs", now.spec().cluster_ips(), was.spec().cluster_ips(), 1);
  check_list("ipFamilies", now.spec().ip_families(), was.spec().ip_families(), 0);
}

void check_endpoints(field_errors& out, const Endpoints& endpoints) {
  for (int i = 0; i < endpoints.subsets_size(); ++i) {
    const auto step = out.at.item("subsets", i);
    const auto& subset = endpoints.subsets(i);
    if (subset.addresses().empty() && subset.not_ready_addresses().empty())
      out.required({}, "must specify `addresses` or `notReadyAddresses`");
    for (int p = 0; p < subset.ports_size(); ++p) {
      const auto inner = out.at.item("ports", p);
      if (subset.ports(p).name().empty() && subset.ports_size() > 1) out.required("name");
    }
  }
}

}  // namespace troupe::api::validation
