#include "server/rest/aggregation/backends.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/link/node_links.hpp"
#include "api/kind.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "server/rest/aggregation/availability.hpp"
#include "server/rest/calls/pod_containers.hpp"
#include "server/rest/proxy/proxy_target.hpp"

namespace troupe::server {
namespace {

using api::core::v1::Pod;
using api::core::v1::Service;

proxy_target over_network(std::shared_ptr<dialer> by, const std::string& host, int port) {
  return {.open = [by = std::move(by), host,
                   port](auto done) { by->dial(host, port, std::move(done)); },
          .host = host_and_port(host, port)};
}

}  // namespace

tl::expected<proxy_target, std::string> backends::target(const aggregated_api& api,
                                                         std::uint64_t turn) const {
  const auto state = read();
  const auto service = state.find(api::kind_of<Service>().key(api.ns, api.service));
  if (!service) return tl::make_unexpected(fmt::format("service \"{}\" not found", api.service));
  const auto made = [&]() -> tl::expected<proxy_target, std::string> {
    const auto& spec = service->as<Service>().spec();
    if (spec.type() == "ExternalName") return over_network(dialer_, spec.external_name(), api.port);
    const auto port = port_name(state, api.ns, api.service, api.port);
    if (!port)
      return tl::make_unexpected(
          fmt::format("no service port {} found for service \"{}\"", api.port, api.service));
    const auto all = ready_endpoints(state, api.ns, api.service, *port);
    if (all.empty())
      return tl::make_unexpected(
          fmt::format("no endpoints available for service \"{}\"", api.service));
    const auto& one = all[turn % all.size()];
    const auto pod =
        one.pod.empty() ? api::object_ptr{} : state.find(api::kind_of<Pod>().key(api.ns, one.pod));
    if (!pod || pod->meta().uid() != one.uid) return over_network(dialer_, one.address, one.port);
    const auto& of = pod->as<Pod>();
    auto source = on_joined_node(from_.system, state, of)
                      ? from_.links->streams_of(of.spec().node_name())
                      : from_.here;
    if (!source)
      return tl::make_unexpected(fmt::format("node {} runs no processes", of.spec().node_name()));
    return pod_port(std::move(source), one);
  }();
  if (!made) return made;
  auto target = *made;
  target.tls = true;
  target.context = api.tls;
  target.server_name = api.server_name();
  return target;
}

front_proxy_credentials backends::credentials() const {
  return from_.front_proxy ? from_.front_proxy->credentials() : front_proxy_credentials{};
}

}  // namespace troupe::server
