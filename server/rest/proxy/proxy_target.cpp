#include "server/rest/proxy/proxy_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/core/labels.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/scheme.hpp"
#include "api/values/integer.hpp"
#include "server/rest/streams/streams.hpp"

namespace troupe::server {
namespace {

using api::core::v1::Pod;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;

constexpr const char* service_label = "kubernetes.io/service-name";

api::error unreachable(std::string_view reason) {
  return api::service_unavailable(fmt::format("error trying to reach service: {}", reason));
}

api::expected<proxy_target> target_in(const call& call, const Pod& pod, int port, bool tls) {
  if (pod.spec().node_name().empty())
    return api::fail(
        unreachable(fmt::format("pod {} does not have a host assigned", pod.metadata().name())));
  auto source = source_of(call, pod);
  if (!source)
    return api::fail(unreachable(fmt::format("node {} runs no processes", pod.spec().node_name())));
  auto target = pod_port(std::move(source), {pod.metadata().name(), pod.metadata().uid(),
                                             pod.status().pod_ip(), port});
  target.tls = tls;
  return target;
}

int first_port(const Pod& pod, bool tls) {
  for (const auto& container : pod.spec().containers())
    if (!container.ports().empty()) return container.ports(0).container_port();
  return tls ? 443 : 80;
}

}  // namespace

std::vector<service_endpoint> ready_endpoints(const persistence::snapshot& state,
                                              std::string_view ns, const std::string& service,
                                              const std::string& port) {
  std::vector<service_endpoint> out;
  const auto& kind = api::kind_of<EndpointSlice>();
  state.scan(kind.prefix(ns), "", [&](std::string_view, const api::object_ptr& object) {
    if (actors::label_of(*object, service_label) != service) return true;
    const auto& slice = object->as<EndpointSlice>();
    for (const auto& each : slice.ports()) {
      if (each.name() != port || (each.has_protocol() && each.protocol() != "TCP")) continue;
      for (const auto& endpoint : slice.endpoints()) {
        const bool ready = !endpoint.conditions().has_ready() || endpoint.conditions().ready();
        if (!ready) continue;
        const auto& of = endpoint.target_ref();
        const bool pod = of.kind() == "Pod";
        out.push_back({pod ? of.name() : std::string{}, pod ? of.uid() : std::string{},
                       endpoint.addresses_size() > 0 ? endpoint.addresses(0) : std::string{},
                       each.port()});
      }
    }
    return true;
  });
  return out;
}

std::string host_and_port(const std::string& address, int port) {
  const bool ipv6 = address.find(':') != address.npos;
  return (ipv6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

proxy_target pod_port(std::shared_ptr<actors::stream_source> source, const service_endpoint& pod) {
  const auto open = [source = std::move(source), uid = pod.uid,
                     port = pod.port](std::function<void(proxy_target::answer)> done) {
    source->forward_port(uid, port, [done = std::move(done)](auto opened) {
      if (opened) return done(std::move(*opened));
      done(tl::make_unexpected(std::move(opened.error().message)));
    });
  };
  return {.open = open, .host = host_and_port(pod.address, pod.port)};
}

std::optional<proxy_name> parse_proxy_name(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(':');
    parts.push_back(text.substr(0, end));
    if (end == text.npos || parts.size() > 3) break;
    text.remove_prefix(end + 1);
  }
  if (parts.size() > 3) return std::nullopt;
  proxy_name out;
  if (parts.size() == 3) {
    if (parts[0] != "https" && parts[0] != "http" && !parts[0].empty()) return std::nullopt;
    out.tls = parts[0] == "https";
    parts.erase(parts.begin());
  }
  out.name = parts[0];
  if (parts.size() == 2) out.port = parts[1];
  if (out.name.empty()) return std::nullopt;
  return out;
}

api::expected<proxy_target> pod_target(const call& call) {
  const auto id = parse_proxy_name(call.route.name);
  if (!id)
    return api::fail(api::bad_request(fmt::format("invalid pod request \"{}\"", call.route.name)));
  const auto found = call.services.read().find(call.kind().key(call.route.ns, id->name));
  if (!found) return api::fail(api::not_found(call.kind(), id->name));
  const auto& pod = found->as<Pod>();
  const auto port = id->port.empty() ? std::optional{first_port(pod, id->tls)}
                                     : api::parse_integer<int>(id->port);
  if (!port || *port < 1 || *port > 65535)
    return api::fail(api::bad_request(
        fmt::format("port of a pod must be a number from 1 to 65535, not \"{}\"", id->port)));
  return target_in(call, pod, *port, id->tls);
}

api::expected<proxy_target> service_target(const call& call) {
  const auto id = parse_proxy_name(call.route.name);
  if (!id)
    return api::fail(
        api::bad_request(fmt::format("invalid service request \"{}\"", call.route.name)));
  const auto state = call.services.read();
  const auto found = state.find(call.kind().key(call.route.ns, id->name));
  if (!found) return api::fail(api::not_found(call.kind(), id->name));
  auto port = id->port;
  if (const auto number = api::parse_integer<int>(port)) {
    const auto& ports = found->as<Service>().spec().ports();
    const auto named = std::find_if(ports.begin(), ports.end(),
                                    [&](const auto& each) { return each.port() == *number; });
    if (named == ports.end())
      return api::fail(api::service_unavailable(
          fmt::format("no service port {} found for service \"{}\"", *number, id->name)));
    port = named->name();
  }
  auto endpoints = ready_endpoints(state, call.route.ns, id->name, port);
  // Only pods are reached: a bare address could be any host.
  std::erase_if(endpoints, [](const auto& each) { return each.pod.empty(); });
  // Request ids are consecutive: each request starts at the next endpoint.
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const auto& each = endpoints[(call.request->id + i) % endpoints.size()];
    const auto pod = state.find(api::kind_of<Pod>().key(call.route.ns, each.pod));
    if (pod && pod->meta().uid() == each.uid)
      return target_in(call, pod->as<Pod>(), each.port, id->tls);
  }
  return api::fail(api::service_unavailable(
      fmt::format("no endpoints available for service \"{}\"", call.route.name)));
}

}  // namespace troupe::server
