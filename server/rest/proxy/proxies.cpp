#include "server/rest/proxy/proxies.hpp"

#include <fmt/format.h>

#include <utility>

#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"
#include "runtime/actor_system.hpp"
#include "server/http/upgrade.hpp"
#include "server/rest/proxy/backend_request.hpp"
#include "server/rest/proxy/proxy_session.hpp"

namespace troupe::server {
namespace {

using api::core::v1::Node;
using api::core::v1::Pod;

// Links of a page are relative to it, so a page needs a path (kubernetes issue 4958).
bool redirect(const call_ptr& call) {
  const auto& request = *call->request;
  const bool reads = request.method == http_method::get || request.method == http_method::head;
  if (!reads || is_upgrade(request) || !path_behind(request).empty()) return false;
  response out;
  out.status = 301;
  auto to = escape_path(request.path) + "/";
  if (!request.query.empty()) to += "?" + request.query.raw();
  out.fields.push_back({"location", std::move(to)});
  call->answer(std::move(out));
  return true;
}

void answer_text(const call_ptr& call, int status, std::string text) {
  response out;
  out.status = status;
  out.content_type = "text/plain; charset=utf-8";
  out.content = body{std::move(text)};
  call->answer(std::move(out));
}

// -- nodes ----------------------------------------------------------------------------------------

bool is_ready(const Node& node) {
  for (const auto& condition : node.status().conditions())
    if (condition.type() == "Ready") return condition.status() == "True";
  return false;
}

void list_pods_on(const call_ptr& call, std::string_view node) {
  const auto& kind = api::kind_of<Pod>();
  const auto fields = api::field_selector::parse(kind, fmt::format("spec.nodeName={}", node));
  if (!fields) return call->fail(fields.error());
  const auto state = call->services.read();
  list_page page;
  page.kind = &kind;
  page.revision = state.at();
  state.scan(kind.prefix(""), "", [&](std::string_view, const api::object_ptr& pod) {
    const auto stored = pod->stored();
    if ((stored.empty() || fields->may_match(stored)) && fields->matches(pod->content()))
      page.items.push_back(pod);
    return true;
  });
  call->answer(list_answer({}, std::move(page)));
}

// Our kubelets listen on no port: what they would say about the cluster's own state is known here.
void answer_for_node(const call_ptr& call) {
  const auto id = parse_proxy_name(call->route.name);
  if (!id)
    return call->fail(
        api::bad_request(fmt::format("invalid node request \"{}\"", call->route.name)));
  const auto found = call->services.read().find(call->kind().key({}, id->name));
  if (!found) return call->fail(api::not_found(call->kind(), id->name));
  if (redirect(call)) return;
  const auto path = path_behind(*call->request);
  const bool reads = call->verb == verb::get;
  if (reads && path == "/pods") return list_pods_on(call, id->name);
  if (!reads || path != "/healthz")
    return answer_text(call, 404,
                       fmt::format("node {} has no port of its own: /healthz and /pods can be "
                                   "read here, nothing else\n",
                                   id->name));
  if (!is_ready(found->as<Node>()))
    return call->fail(api::service_unavailable(
        fmt::format("error trying to reach service: node {} is not ready", id->name)));
  answer_text(call, 200, "ok");
}

}  // namespace

void connect_proxy(const call_ptr& call) {
  if (&call->kind() == &api::kind_of<Node>()) return answer_for_node(call);
  auto target = &call->kind() == &api::kind_of<Pod>() ? pod_target(*call) : service_target(*call);
  if (!target) return call->fail(target.error());
  if (redirect(call)) return;
  call->services.plane.system().spawn(
      {.kind = "proxy",
       .name = fmt::format("{}/{}/{:x}", call->route.ns, call->route.name, call->request->id),
       .restart = false},
      runtime::make<proxy_session>(call, std::move(*target)));
}

}  // namespace troupe::server
