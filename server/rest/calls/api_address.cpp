#include "server/rest/calls/api_address.hpp"

#include <future>
#include <memory>
#include <utility>

#include "actors/api_servers/api_server_writes.hpp"
#include "actors/defaults.hpp"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "server/credentials/addresses.hpp"
#include "server/rest/defaults.hpp"

namespace troupe::server {
namespace {

using actors::proposal;
using api::core::v1::Service;
using persistence::snapshot;

constexpr std::int32_t service_port = 443;

api::expected<void> carry_out(actors::control_plane& plane, actors::write_proposal propose) {
  const auto done = std::make_shared<std::promise<api::expected<void>>>();
  auto answer = done->get_future();
  plane.writes().carry_out(
      actors::api_server_write(std::move(propose), [done](actors::write_outcome outcome) {
        if (outcome.result) return done->set_value({});
        done->set_value(api::fail(outcome.result.error()));
      }));
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
  port.set_name(actors::api_port_name);
  port.set_protocol("TCP");
  port.set_port(service_port);
  port.mutable_target_port()->set_type(0);
  port.mutable_target_port()->set_int_val(target);
}

actors::write_proposal service_with(std::int32_t target, const std::string& address) {
  return [=](const snapshot& state) -> api::expected<proposal> {
    const auto& kind = api::kind_of<Service>();
    auto before = state.find(kind.key(actors::api_service_namespace, actors::api_service_name));
    auto after = before ? before->copy_as<Service>() : std::make_unique<Service>();
    after->mutable_metadata()->set_name(actors::api_service_name);
    after->mutable_metadata()->set_namespace_(actors::api_service_namespace);
    complete(*after, target, address);
    using actors::admission::operation;
    const auto op = before ? operation::update : operation::create;
    return proposal{
        .kind = &kind, .op = op, .before = std::move(before), .after = std::move(after)};
  };
}

}  // namespace

tl::expected<void, std::string> publish_api_address(actors::control_plane& plane,
                                                    const endpoint& at) {
  const auto target = static_cast<std::int32_t>(at.port);
  auto published = carry_out(plane, service_with(target, actors::defaults::api_service_address));
  // Another Service of an older cluster may have that address.
  if (!published) published = carry_out(plane, service_with(target, {}));
  if (!published) return tl::make_unexpected(published.error().message);
  const auto host = reachable_address(at.host);
  if (plane.store().is_shared() || is_loopback(host)) return {};
  for (auto& each :
       actors::publish_api_servers(plane.store().read(), [host, target](const snapshot&) {
         return actors::api_listing{{{host, target}}};
       }))
    if (auto told = carry_out(plane, std::move(each)); !told)
      return tl::make_unexpected(told.error().message);
  return {};
}

}  // namespace troupe::server
