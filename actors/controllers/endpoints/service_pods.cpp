#include "actors/controllers/endpoints/service_pods.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include "actors/core/condition.hpp"
#include "actors/core/pod_health.hpp"
#include "api/values/service_spec.hpp"

namespace troupe::actors::endpoints {
namespace {

using api::core::v1::Container;
using api::core::v1::EndpointPort;
using api::core::v1::Pod;
using api::core::v1::Service;
using api::core::v1::ServicePort;

constexpr const char* headless_label = "service.kubernetes.io/headless";

std::int32_t port_named(const std::string& name, const std::string& protocol, const Pod& pod) {
  const auto find = [&](const Container& container) {
    for (const auto& port : container.ports())
      if (port.name() == name && port.protocol() == protocol) return port.container_port();
    return 0;
  };
  for (const auto& container : pod.spec().containers())
    if (const auto found = find(container)) return found;
  for (const auto& container : pod.spec().init_containers())
    if (const auto found = container.restart_policy() == "Always" ? find(container) : 0)
      return found;
  return 0;
}

}  // namespace

bool port_less::operator()(const EndpointPort& a, const EndpointPort& b) const {
  using key = std::tuple<std::string_view, std::int32_t, std::string_view, std::string_view>;
  return key{a.name(), a.port(), a.protocol(), a.app_protocol()} <
         key{b.name(), b.port(), b.protocol(), b.app_protocol()};
}

bool has_address(const Pod& pod) {
  return !is_terminated(pod) && !pod.status().pod_ip().empty();
}

std::string address_of(const Pod& pod, std::string_view family) {
  const auto fits = [v6 = family == "IPv6"](const std::string& address) {
    return !address.empty() && (address.find(':') != address.npos) == v6;
  };
  const auto& status = pod.status();
  if (fits(status.pod_ip())) return status.pod_ip();
  for (const auto& each : status.pod_ips())
    if (fits(each.ip())) return each.ip();
  return {};
}

std::vector<std::string> families_of(const Service& service) {
  const auto& families = service.spec().ip_families();
  if (families.empty()) return {"IPv4"};  // of a Service from before there were any
  return {families.begin(), families.end()};
}

std::int32_t target_of(const ServicePort& port, const Pod& pod) {
  const auto& target = port.target_port();
  if (target.type() == 1) return port_named(target.str_val(), port.protocol(), pod);
  return target.int_val() != 0 ? target.int_val() : port.port();
}

std::vector<EndpointPort> ports_of(const Service& service, const Pod& pod) {
  std::vector<EndpointPort> ports;
  for (const auto& port : service.spec().ports()) {
    const auto number = target_of(port, pod);
    if (number == 0) continue;
    auto& made = ports.emplace_back();
    if (!port.name().empty()) made.set_name(port.name());
    made.set_port(number);
    made.set_protocol(port.protocol());
    if (port.has_app_protocol()) made.set_app_protocol(port.app_protocol());
  }
  std::sort(ports.begin(), ports.end(), port_less{});
  return ports;
}

std::string hostname_behind(const Service& service, const Pod& pod) {
  const bool named = pod.spec().subdomain() == service.metadata().name();
  return named ? pod.spec().hostname() : std::string{};
}

api::core::v1::ObjectReference reference_to(const Pod& pod) {
  api::core::v1::ObjectReference made;
  made.set_kind("Pod");
  made.set_namespace_(pod.metadata().namespace_());
  made.set_name(pod.metadata().name());
  made.set_uid(pod.metadata().uid());
  return made;
}

api::label_map labels_of(const Service& service) {
  auto labels = service.metadata().labels();
  if (api::is_headless(service.spec())) labels[headless_label] = "";
  return labels;
}

}  // namespace troupe::actors::endpoints
