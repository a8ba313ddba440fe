#include "server/rest/proxy/proxies.hpp"

#include <fmt/format.h>

#include <utility>

#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "runtime/actor_system.hpp"
#include "server/http/upgrade.hpp"
#include "server/rest/proxy/backend_request.hpp"
#include "server/rest/proxy/node_proxy.hpp"
#include "server/rest/proxy/proxy_session.hpp"
#include "server/rest/proxy/proxy_target.hpp"

namespace troupe::server {

using api::core::v1::Node;
using api::core::v1::Pod;

namespace {

api::expected<proxy_target> target_of(const call& call) {
  return &call.kind() == &api::kind_of<Pod>() ? pod_target(call) : service_target(call);
}

void start(const call_ptr& call, proxy_target target, const std::string& path) {
  call->services.plane.system().spawn(
      {.kind = "proxy",
       .name = fmt::format("{}/{}/{:x}", call->route.ns, call->route.name, call->request->id),
       .restart = false},
      runtime::make<proxy_session>(
          call, std::move(target),
          proxied_request{.head = backend_request_head(*call->request, path), .path = path}));
}

}  // namespace

// A page's relative links need a path with a trailing slash (kubernetes issue 4958).
bool redirect_to_path(const call_ptr& call) {
  const auto& request = *call->request;
  const bool reads = request.method == http_method::get || request.method == http_method::head;
  if (!reads || is_upgrade(request) || !remaining_path(request).empty()) return false;
  response out;
  out.status = 301;
  auto to = escape_path(request.path) + "/";
  if (!request.query.empty()) to += "?" + request.query.raw();
  out.fields.push_back({"location", std::move(to)});
  call->answer(std::move(out));
  return true;
}

void connect_proxy(const call_ptr& call) {
  if (&call->kind() == &api::kind_of<Node>()) return connect_node_proxy(call);
  auto target = target_of(*call);
  if (!target) return call->fail(target.error());
  if (redirect_to_path(call)) return;
  start(call, std::move(*target), std::string{remaining_path(*call->request)});
}

void proxy_path(const call_ptr& call, const std::string& path) {
  auto target = target_of(*call);
  if (!target) return call->fail(target.error());
  start(call, std::move(*target), path);
}

}  // namespace troupe::server
