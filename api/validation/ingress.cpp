// Ingresses and their classes (kubernetes: pkg/apis/networking/validation).
#include "api/validation/checks.hpp"
#include "api/validation/network.hpp"
#include "api/values/cidr.hpp"

namespace troupe::api::validation {
namespace {

using namespace networking::v1;

constexpr auto class_annotation = "kubernetes.io/ingress.class";
constexpr std::size_t controller_bytes = 250;

// Kubernetes, util/validation: IsWildcardDNS1123Subdomain.
error_messages check_wildcard(std::string_view s) {
  if (s.starts_with("*.") && check_dns_subdomain(s.substr(2)).empty()) return {};
  return {
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
      "which must consist of lower case alphanumeric characters, '-' or '.' and end with an "
      "alphanumeric character (e.g. '*.example.com', regex used for validation is "
      "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"};
}

error_messages check_host(std::string_view host) {
  return host.find('*') == std::string_view::npos ? check_dns_subdomain(host)
                                                  : check_wildcard(host);
}

void check_port(field_errors& out, const ServiceBackendPort& port) {
  const bool named = !port.name().empty();
  const bool numbered = port.number() != 0;
  if (named && numbered) return out.invalid({}, "", "cannot set both port name & port number");
  if (!named && !numbered) return out.required({}, "port name or number is required");
  const auto step = out.at.field("service");
  const auto inner = out.at.field("port");
  if (named) return out.each("name", port.name(), check_port_name(port.name()));
  for (const auto& complaint : check_port_number(port.number()))
    out.invalid("number", port.number(), complaint);
}

void check_backend(field_errors& out, std::string_view field, const IngressBackend& backend) {
  const auto step = out.at.field(field);
  if (backend.has_resource() && backend.has_service())
    return out.invalid({}, "", "cannot set both resource and service backends");
  if (!backend.has_resource() && !backend.has_service())
    return out.invalid({}, "", "resource or service backend is required");
  if (backend.has_resource()) {
    const auto inner = out.at.field("resource");
    const auto& resource = backend.resource();
    if (resource.has_api_group())
      out.each("apiGroup", resource.api_group(), check_dns_subdomain(resource.api_group()));
    out.each("kind", resource.kind(), check_path_segment(resource.kind()));
    out.each("name", resource.name(), check_path_segment(resource.name()));
    return;
  }
  const auto& service = backend.service();
  if (!service.name().empty()) {
    const auto inner = out.at.field("service");
    out.each("name", service.name(), check_dns_1035_label(service.name()));
  }
  check_port(out, service.port());
}

void check_clean_path(field_errors& out, const std::string& path) {
  for (const std::string_view part : {"//", "/./", "/../", "%2f", "%2F"})
    if (path.find(part) != std::string::npos)
      out.invalid("path", path, "must not contain '" + std::string(part) + "'");
  for (const std::string_view end : {"/..", "/."})
    if (path.ends_with(end))
      out.invalid("path", path, "cannot end with '" + std::string(end) + "'");
}

void check_path(field_errors& out, const HTTPIngressPath& path) {
  constexpr std::string_view types[] = {"Exact", "ImplementationSpecific", "Prefix"};
  constexpr std::string_view absolute = "must be an absolute path";
  if (!path.has_path_type()) return out.required("pathType", "pathType must be specified");
  const bool rooted = path.path().starts_with('/');
  if (path.path_type() == "Exact" || path.path_type() == "Prefix") {
    if (!rooted) out.invalid("path", path.path(), absolute);
    check_clean_path(out, path.path());
  } else if (path.path_type() == "ImplementationSpecific") {
    if (!path.path().empty() && !rooted) out.invalid("path", path.path(), absolute);
  } else {
    out.unsupported("pathType", path.path_type(), types);
  }
  check_backend(out, "backend", path.backend());
}

void check_rule(field_errors& out, const IngressRule& rule) {
  const auto& host = rule.host();
  if (!host.empty()) {
    if (!ip_family(host).empty())
      out.invalid("host", host, "must be a DNS name, not an IP address");
    out.each("host", host, check_host(host));
  }
  const auto step = out.at.field("http");
  const auto& paths = rule.ingress_rule_value().http().paths();
  for (int i = 0; i < paths.size(); ++i) {
    const auto inner = out.at.item("paths", i);
    check_path(out, paths[i]);
  }
}

void check_tls(field_errors& out, const IngressTLS& tls) {
  for (int i = 0; i < tls.hosts_size(); ++i) {
    const auto step = out.at.item("hosts", i);
    out.each({}, tls.hosts(i), check_host(tls.hosts(i)));
  }
  if (!tls.secret_name().empty())
    out.each("secretName", tls.secret_name(), check_dns_subdomain(tls.secret_name()));
}

}  // namespace

void check(field_errors& out, const Ingress& object) {
  const auto& spec = object.spec();
  if (spec.rules().empty() && !spec.has_default_backend())
    out.invalid_json("spec", "[]", "either `defaultBackend` or `rules` must be specified");
  const auto step = out.at.field("spec");
  if (spec.has_default_backend()) check_backend(out, "defaultBackend", spec.default_backend());
  for (int i = 0; i < spec.rules_size(); ++i) {
    const auto inner = out.at.item("rules", i);
    check_rule(out, spec.rules(i));
  }
  for (int i = 0; i < spec.tls_size(); ++i) {
    const auto inner = out.at.item("tls", i);
    check_tls(out, spec.tls(i));
  }
  if (spec.has_ingress_class_name())
    out.each("ingressClassName", spec.ingress_class_name(),
             check_dns_subdomain(spec.ingress_class_name()));
}

void check_create(field_errors& out, const Ingress& object) {
  const auto found = object.metadata().annotations().find(class_annotation);
  if (found == object.metadata().annotations().end()) return;
  if (!object.spec().has_ingress_class_name() ||
      found->second == object.spec().ingress_class_name())
    return;
  const auto step = out.at.field("annotations");
  out.invalid(class_annotation, found->second,
              "must match `ingressClassName` when both are specified");
}

void check(field_errors& out, const IngressClass& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  const auto& controller = spec.controller();
  if (controller.empty()) {
    out.required("controller");
  } else {
    if (controller.size() > controller_bytes) out.too_long("controller", controller_bytes);
    if (controller.find('/') == std::string::npos)
      out.invalid("controller", controller,
                  "must be a domain-prefixed path (such as \"acme.io/foo\")");
  }
  if (!spec.has_parameters()) return;
  const auto inner = out.at.field("parameters");
  const auto& parameters = spec.parameters();
  if (parameters.has_api_group())
    out.each("apiGroup", parameters.api_group(), check_dns_subdomain(parameters.api_group()));
  if (parameters.scope() == "Namespace" && !parameters.has_namespace_())
    out.required("namespace", "`parameters.scope` is set to 'Namespace'");
  if (parameters.scope() == "Cluster" && parameters.has_namespace_())
    out.forbidden("namespace", "`parameters.scope` is set to 'Cluster'");
  if (parameters.has_namespace_())
    out.each("namespace", parameters.namespace_(), check_dns_label(parameters.namespace_()));
}

}  // namespace troupe::api::validation
