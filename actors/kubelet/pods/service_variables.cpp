#include "actors/kubelet/pods/service_variables.hpp"

#include <fmt/format.h>

#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/values/ascii.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::Endpoints;
using api::core::v1::Pod;
using api::core::v1::Service;

struct service_port {
  std::string name;
  std::string protocol;
  int port = 0;
};

std::string upper(std::string text) {
  for (auto& c : text) {
    if (c == '-') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

void append(variables& to, const std::string& name, const std::string& host,
            const std::vector<service_port>& ports) {
  if (ports.empty()) return;
  const auto prefix = upper(name);
  to.emplace_back(prefix + "_SERVICE_HOST", host);
  to.emplace_back(prefix + "_SERVICE_PORT", std::to_string(ports.front().port));
  for (const auto& each : ports)
    if (!each.name.empty())
      to.emplace_back(prefix + "_SERVICE_PORT_" + upper(each.name), std::to_string(each.port));
  const auto shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
  const auto url = [&](const service_port& of) {
    return fmt::format("{}://{}:{}", api::to_lower(of.protocol), shown, of.port);
  };
  to.emplace_back(prefix + "_PORT", url(ports.front()));
  for (const auto& each : ports) {
    const auto link = fmt::format("{}_PORT_{}_{}", prefix, each.port, upper(each.protocol));
    to.emplace_back(link, url(each));
    to.emplace_back(link + "_PROTO", api::to_lower(each.protocol));
    to.emplace_back(link + "_PORT", std::to_string(each.port));
    to.emplace_back(link + "_ADDR", host);
  }
}

// Only for services with an address: neither headless nor ExternalName.
void append(variables& to, const Service& service) {
  const auto& host = service.spec().cluster_ip();
  if (host.empty() || host == "None") return;
  std::vector<service_port> ports;
  for (const auto& each : service.spec().ports())
    ports.push_back({each.name(), each.protocol(), each.port()});
  append(to, service.metadata().name(), host, ports);
}

// kubernetes: cmd/kube-apiserver, the Service default/kubernetes has one port of that name.
constexpr const char* api_name = "kubernetes";
constexpr const char* api_port = "https";

void append(variables& to, const Endpoints& api, const local_api& here) {
  for (const auto& subset : api.subsets()) {
    if (subset.addresses().empty()) continue;
    std::vector<service_port> ports;
    for (const auto& each : subset.ports())
      ports.push_back({each.name(), each.protocol(), each.port()});
    return append(to, api_name, subset.addresses(0).ip(), ports);
  }
  if (!here.host.empty()) append(to, api_name, here.host, {{api_port, "TCP", here.port}});
}

}  // namespace

variables service_variables(const Pod& pod, const std::vector<api::object_ptr>& services,
                            const api::object_ptr& api, const local_api& here) {
  variables out;
  // Later variables win: a service of the namespace may have the name "kubernetes" too.
  if (!here.by_service)
    append(out, api ? api->as<Endpoints>() : Endpoints{}, here);
  else if (api)
    append(out, api->as<Service>());
  if (pod.spec().has_enable_service_links() && !pod.spec().enable_service_links()) return out;
  for (const auto& each : services) {
    const auto& meta = each->meta();
    if (meta.namespace_() != "default" || meta.name() != api_name) append(out, each->as<Service>());
  }
  return out;
}

std::string services_prefix(const Pod& pod) {
  return api::kind_of<Service>().key(pod.metadata().namespace_(), {});
}

std::string api_key(const local_api& here) {
  const auto& kind = here.by_service ? api::kind_of<Service>() : api::kind_of<Endpoints>();
  return kind.key("default", api_name);
}

}  // namespace troupe::actors
