#include "server/rest/streams/streams.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/kubelet/runtime/streams.hpp"
#include "actors/link/node_links.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/values/integer.hpp"
#include "runtime/actor_system.hpp"
#include "server/access/authorization.hpp"
#include "server/http/status.hpp"
#include "server/http/upgrade.hpp"
#include "server/rest/calls/pod_containers.hpp"
#include "server/rest/streams/command_session.hpp"
#include "server/rest/streams/port_session.hpp"
#include "server/streams/defaults.hpp"

namespace troupe::server {
namespace {

using api::core::v1::Pod;

// A connection can do anything in the container: it needs the verb create, even with the method GET
// (kubernetes: AuthorizePodWebsocketUpgradeCreatePermission, on since 1.35).
api::expected<void> may_connect(const call_ptr& call) {
  const auto* permissions = call->services.options.permissions;
  if (call->verb == verb::create || permissions == nullptr) return {};
  auto info = call->request->info;
  info.verb = "create";
  return permissions->check(*call->request->user, info);
}

api::expected<api::object_ptr> connectable_pod(const call_ptr& call) {
  if (auto may = may_connect(call); !may) return api::fail(std::move(may.error()));
  auto found = call->services.read().find(call->key());
  if (!found) return api::fail(api::not_found(call->kind(), call->route.name));
  if (found->as<Pod>().spec().node_name().empty())
    return api::fail(api::bad_request(
        fmt::format("pod {} does not have a host assigned", found->meta().name())));
  if (!wants_streams(*call->request))
    return api::fail(api::bad_request("Upgrade request required"));
  return found;
}

// The kubelet's form of a refusal: clients show it after "unable to upgrade connection".
void refuse(const call_ptr& call, std::string reason) {
  call->answer(plain_error(500, std::move(reason)));
}

std::string no_streams(const Pod& pod) {
  return fmt::format("node {} runs no processes", pod.spec().node_name());
}

std::string session_name(const call& call) {
  return fmt::format("{}/{}/{:x}", call.route.ns, call.route.name, call.request->id);
}

// kubernetes: kubelet/pkg/cri/streaming/remotecommand/httpstream.go, NewOptions.
api::expected<command_channels> read_channels(const query_string& query) {
  command_channels out{.input = query.flag("stdin"),
                       .output = query.flag("stdout"),
                       .error = query.flag("stderr"),
                       .tty = query.flag("tty")};
  if (out.tty) out.error = false;  // a terminal has one output stream
  if (!out.input && !out.output && !out.error)
    return api::fail(api::bad_request("you must specify at least 1 of stdin, stdout, stderr"));
  return out;
}

void connect_command(const call_ptr& call, std::vector<std::string> command, const char* kind) {
  const auto found = connectable_pod(call);
  if (!found) return call->fail(found.error());
  const auto& pod = (*found)->as<Pod>();
  const auto& query = call->request->query;
  auto container = container_named(pod, query.get_or("container", ""));
  if (!container) return call->fail(container.error());
  const auto channels = read_channels(query);
  if (!channels) return call->fail(channels.error());
  const auto* status = status_of(pod, *container);
  auto source = source_of(*call, pod);
  if (status == nullptr || !status->state().has_running())
    return refuse(call, fmt::format("container not found (\"{}\")", *container));
  if (!source) return refuse(call, no_streams(pod));
  call->services.plane.system().spawn(
      {.kind = kind, .name = session_name(*call), .restart = false},
      runtime::make<command_session>(call, command_target{.source = std::move(source),
                                                          .container = *container,
                                                          .container_id = status->container_id(),
                                                          .request = {.command = std::move(command),
                                                                      .input = channels->input,
                                                                      .tty = channels->tty},
                                                          .channels = *channels}));
}

// "80", or "80,443"; clients send it if a connection has fixed ports.
api::expected<std::vector<int>> read_ports(const query_string& query) {
  std::vector<int> out;
  for (const auto* name : {"ports", "port"})
    for (const auto& list : query.all(name))
      for (const auto& text : split_list(list)) {
        const auto port = api::parse_integer<int>(text).value_or(0);
        if (port < 1 || port > 65535)
          return api::fail(api::bad_request(
              fmt::format("port must be a number from 1 to 65535, not \"{}\"", text)));
        if (out.size() >= defaults::named_ports)
          return api::fail(api::bad_request("too many ports"));
        out.push_back(port);
      }
  return out;
}

}  // namespace

std::shared_ptr<actors::stream_source> source_of(const call& call, const Pod& pod) {
  if (on_joined_node(call, pod))
    return call.services.plane.links().streams_of(pod.spec().node_name());
  return call.services.options.streams;
}

void connect_exec(const call_ptr& call) {
  auto command = call->request->query.all("command");
  if (command.empty() || command.front().empty())
    return call->fail(api::bad_request("you must specify at least one command for the container"));
  connect_command(call, std::move(command), "exec");
}

void connect_attach(const call_ptr& call) {
  connect_command(call, {}, "attach");
}

void connect_ports(const call_ptr& call) {
  const auto found = connectable_pod(call);
  if (!found) return call->fail(found.error());
  const auto& pod = (*found)->as<Pod>();
  auto ports = read_ports(call->request->query);
  if (!ports) return call->fail(ports.error());
  auto source = source_of(*call, pod);
  if (pod.status().phase() != "Running")
    return refuse(call, fmt::format("pod not running: {}", pod.metadata().name()));
  if (!source) return refuse(call, no_streams(pod));
  call->services.plane.system().spawn(
      {.kind = "port-forward", .name = session_name(*call), .restart = false},
      runtime::make<port_session>(call, port_target{.source = std::move(source),
                                                    .pod_uid = pod.metadata().uid(),
                                                    .ports = std::move(*ports)}));
}

}  // namespace troupe::server
