#include "server/rest/calls/api_address.hpp"

#include <future>
#include <memory>
#include <utility>

#include "actors/defaults.hpp"
#include "actors/write/write_service.hpp"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/scheme.hpp"
#include "server/credentials/addresses.hpp"
#include "server/rest/defaults.hpp"

namespace troupe::server {
namespace {

using actors::proposal;
using api::core::v1::Endpoints;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;
using persistence::snapshot;

constexpr const char* service_name = "kubernetes";
constexpr const char* service_namespace = "default";
constexpr const char* port_name = "https";
constexpr std::int32_t service_port = 443;

template <class T>
std::unique_ptr<T> named() {
  auto made = std::make_unique<T>();
  made->mutable_metadata()->set_name(service_name);
  made->mutable_metadata()->set_namespace_(service_namespace);
  return made;
}

// What `change` makes of the object of that name, or of a new one.
template <class T, class Change>
api::expected<proposal> propose(const snapshot& state, Change change) {
  const auto& kind = api::kind_of<T>();
  auto before = state.find(kind.key(service_namespace, service_name));
  auto after = before ? before->template copy_as<T>() : named<T>();
  change(*after);
  using actors::admission::operation;
  const auto op = before ? operation::update : operation::create;
  return proposal{.kind = &kind, .op = op, .before = std::move(before), .after = std::move(after)};
}

api::expected<void> carry_out(
    actors::control_plane& plane,
    std::function<api::expected<proposal>(const snapshot& state)> propose) {
  const auto done = std::make_shared<std::promise<api::expected<void>>>();
  auto answer = done->get_future();
  plane.writes().carry_out({.propose = std::move(propose),
                            .done =
                                [done](actors::write_outcome outcome) {
                                  if (outcome.result) return done->set_value({});
                                  done->set_value(api::fail(outcome.result.error()));
                                },
                            .cause = {.author = "system:apiserver"},
                            .by = actors::admission::controllers()});
  if (answer.wait_for(defaults::start_wait) != std::future_status::ready)
    return api::fail(api::timed_out("the store did not answer in time", 1));
  return answer.get();
}

void complete(Service& service, std::int32_t target, const std::string& address) {
  auto& labels = *service.mutable_metadata()->mutable_labels();
  labels["component"] = "apiserver";
  labels["provider"] = "kubernetes";
  auto& spec = *service.mutable_spec();
  if (spec.cluster_ip().empty() && !address.empty()) spec.set_cluster_ip(address);
  auto& port = spec.ports().empty() ? *spec.add_ports() : *spec.mutable_ports(0);
  port.set_name(port_name);
  port.set_protocol("TCP");
  port.set_port(service_port);
  port.mutable_target_port()->set_type(0);
  port.mutable_target_port()->set_int_val(target);
}

void complete(Endpoints& endpoints, const endpoint& at) {
  // For controllers of others that copy Endpoints into slices: the slice is here already.
  auto& labels = *endpoints.mutable_metadata()->mutable_labels();
  labels["endpointslice.kubernetes.io/skip-mirror"] = "true";
  endpoints.clear_subsets();
  auto& subset = *endpoints.add_subsets();
  subset.add_addresses()->set_ip(at.host);
  auto& port = *subset.add_ports();
  port.set_name(port_name);
  port.set_protocol("TCP");
  port.set_port(at.port);
}

// kubernetes: pkg/controlplane/reconcilers/endpointsadapter.go, endpointSliceFromEndpoints.
void complete(EndpointSlice& slice, const endpoint& at) {
  (*slice.mutable_metadata()->mutable_labels())["kubernetes.io/service-name"] = service_name;
  slice.set_address_type(at.host.find(':') == std::string::npos ? "IPv4" : "IPv6");
  slice.clear_endpoints();
  auto& only = *slice.add_endpoints();
  only.add_addresses(at.host);
  only.mutable_conditions()->set_ready(true);
  slice.clear_ports();
  auto& port = *slice.add_ports();
  port.set_name(port_name);
  port.set_protocol("TCP");
  port.set_port(at.port);
}

template <class T>
api::expected<void> publish(actors::control_plane& plane, const endpoint& at) {
  return carry_out(plane, [at](const snapshot& state) {
    return propose<T>(state, [&](T& each) { complete(each, at); });
  });
}

}  // namespace

tl::expected<void, std::string> publish_api_address(actors::control_plane& plane,
                                                    const endpoint& at) {
  const auto target = static_cast<std::int32_t>(at.port);
  const auto publish_service = [&](const std::string& address) {
    return carry_out(plane, [=](const snapshot& state) {
      return propose<Service>(state, [&](Service& each) { complete(each, target, address); });
    });
  };
  auto published = publish_service(actors::defaults::api_service_address);
  // Another Service of an older cluster may have that one.
  if (!published) published = publish_service({});
  if (!published) return tl::make_unexpected(published.error().message);
  auto seen = at;
  seen.host = reachable_address(at.host);
  if (is_loopback(seen.host)) return {};
  auto told = publish<Endpoints>(plane, seen);
  if (told) told = publish<EndpointSlice>(plane, seen);
  if (!told) return tl::make_unexpected(told.error().message);
  return {};
}

}  // namespace troupe::server
