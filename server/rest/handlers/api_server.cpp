#include "server/rest/handlers/api_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "api/kind_row.hpp"
#include "api/kinds/deprecations.hpp"
#include "api/version_rules.hpp"
#include "runtime/actor_system.hpp"
#include "server/credentials/front_proxy.hpp"
#include "server/rest/aggregation/api_aggregator.hpp"
#include "server/rest/aggregation/api_proxy.hpp"
#include "server/rest/aggregation/backends.hpp"
#include "server/rest/aggregation/metrics_client.hpp"
#include "server/rest/calls/system_objects.hpp"
#include "server/rest/handlers/components.hpp"
#include "server/rest/handlers/deleting.hpp"
#include "server/rest/handlers/documents.hpp"
#include "server/rest/handlers/reading.hpp"
#include "server/rest/handlers/reviews.hpp"
#include "server/rest/handlers/subresources.hpp"
#include "server/rest/handlers/tokens.hpp"
#include "server/rest/handlers/usage.hpp"
#include "server/rest/handlers/writing.hpp"
#include "server/rest/logs/logs.hpp"
#include "server/rest/proxy/proxies.hpp"
#include "server/rest/streams/streams.hpp"

namespace troupe::server {
namespace {

// kubernetes: apimachinery/pkg/api/errors, NewGenericServerResponse for 405.
api::error no_such_method() {
  api::error out;
  out.code = 405;
  out.reason = "MethodNotAllowed";
  out.message = "the server does not allow this method on the requested resource";
  return out;
}

// For users at a terminal, as upstream.
bool wants_pretty(const request& request) {
  if (request.query.has("pretty")) return request.query.flag("pretty");
  const auto agent = request.headers.get("user-agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

// A container or another server responds, in a form of its own.
bool connects(std::string_view subresource) {
  static constexpr std::string_view connections[] = {"exec", "attach", "portforward", "proxy"};
  return std::find(std::begin(connections), std::end(connections), subresource) !=
         std::end(connections);
}

api::expected<void> read_form(call& call, bool watching) {
  const auto& kind = call.kind();
  const auto form =
      negotiate(call.request->headers.joined("accept"),
                {.watching = watching, .custom = kind.custom(), .readable = kind.serves("get")});
  if (!form) return api::fail(form.error());
  call.form = *form;
  const auto rows = parse_included(call.request->query);
  if (!rows) return api::fail(rows.error());
  call.rows = *rows;
  return {};
}

using call_handler = void (*)(const call_ptr&);

// For kinds whose objects are not stored.
call_handler computed_handler(const call& call) {
  if (is_usage(call.kind())) return call.verb == verb::get ? &get_usage : &list_usage;
  return call.verb == verb::get ? &get_component : &list_components;
}

call_handler object_handler(const call& call) {
  switch (call.verb) {
    case verb::get:
      return call.kind().row().is_computed ? computed_handler(call) : &get_object;
    case verb::list:
      return call.kind().row().is_computed ? computed_handler(call) : &list_objects;
    case verb::watch:
      return &watch_objects;
    case verb::create:
      if (is_review(call.kind())) return &create_review;
      // A kind that is created but not stored is a command.
      return api::home_of(call.kind()).stored() ? &create_object : &create_binding;
    case verb::update:
      return &update_object;
    case verb::patch:
      return &patch_object;
    case verb::remove:
      return &delete_object;
    case verb::remove_all:
      return &delete_collection;
  }
  return nullptr;
}

// The verbs of a subresource; null if it lacks the verb.
struct part_handlers {
  std::string_view name;
  call_handler get = nullptr;
  call_handler create = nullptr;
  call_handler update = nullptr;
  call_handler patch = nullptr;
  call_handler remove = nullptr;
};

constexpr part_handlers parts[] = {
    {"status", &get_object, nullptr, &update_object, &patch_object},
    {"scale", &get_scale, nullptr, &update_scale, &patch_scale},
    {"finalize", nullptr, nullptr, &update_object, nullptr},
    {"approval", &get_object, nullptr, &update_object, &patch_object},
    {"ephemeralcontainers", &get_object, nullptr, &update_object, &patch_object},
    {"resize", &get_object, nullptr, &update_object, &patch_object},
    {"binding", nullptr, &create_binding, nullptr, nullptr},
    {"eviction", nullptr, &create_eviction, nullptr, nullptr},
    {"token", nullptr, &create_token, nullptr, nullptr},
    {"log", &get_log, nullptr, nullptr, nullptr},
    {"exec", &connect_exec, &connect_exec, nullptr, nullptr},
    {"attach", &connect_attach, &connect_attach, nullptr, nullptr},
    {"portforward", &connect_ports, &connect_ports, nullptr, nullptr},
    {"proxy", &connect_proxy, &connect_proxy, &connect_proxy, &connect_proxy, &connect_proxy},
};

call_handler part_handler(const call& call) {
  for (const auto& part : parts) {
    if (part.name != call.route.subresource) continue;
    switch (call.verb) {
      case verb::get:
        return part.get;
      case verb::create:
        return part.create;
      case verb::update:
        return part.update;
      case verb::patch:
        return part.patch;
      case verb::remove:
        return part.remove;
      default:
        return nullptr;
    }
  }
  return nullptr;
}

call_handler handler_of(const call& call) {
  if (!call.route.subresource.empty()) return part_handler(call);
  return call.kind().serves(to_string(call.verb)) ? object_handler(call) : nullptr;
}

// Handlers that decide by a stored object and do not write it. As upstream's, they know what
// another control plane has committed before; a write finds that out when it is committed.
bool decides_by_reading(const call& call) {
  const auto part = call.route.subresource;
  return call.verb == verb::remove_all || (call.verb == verb::get && part == "scale") ||
         part == "token" || part == "log" || connects(part);
}

}  // namespace

api_server::api_server(actors::control_plane& plane, rest_options options)
    : services_{plane, std::move(options)} {
  services_.aggregated = std::make_shared<aggregation>(
      backends::sources{plane.system(), plane.store(), plane.shared_links(),
                        services_.options.streams, services_.options.front_proxy});
  plane.system().spawn({.kind = "api-aggregator", .name = "api-aggregator"},
                       runtime::make<api_aggregator>(plane.core_actors(), services_.aggregated));
  plane.system().spawn({.kind = actors::metrics_client_kind, .name = actors::metrics_client_kind},
                       runtime::make<metrics_client>(services_.aggregated));
}

api_server::~api_server() = default;

tl::expected<bool, std::string> api_server::create_system_objects() {
  const auto& front = services_.options.front_proxy;
  return prepare_cluster(services_.plane, front ? front->credentials().authority : std::string{});
}

void api_server::serve(request_ptr request, responder answer) {
  const auto route = route_of(request->info);
  const auto verb = verb_of(route, request->info);
  const auto other = services_.aggregated->apis.find(request->path);
  const auto made = std::make_shared<call>(services_, std::move(request), std::move(answer), route,
                                           verb.value_or(verb::get));
  if (other) return forward_request(made, *other);
  if (route.at != route::place::objects) return serve_document(made);
  if (const auto refused = services_.plane.store().refusal())
    return made->fail(api::service_unavailable(refused->message));
  if (!connects(route.subresource))
    if (const auto fine = read_form(*made, verb == verb::watch); !fine)
      return made->fail(fine.error());
  made->form.pretty = wants_pretty(*made->request);
  if (const auto* rules = route.kind->rules(); rules && !rules->warning().empty())
    made->warn({rules->warning()});
  if (const auto text = api::deprecation_of(*route.kind); !text.empty())
    made->warn({std::string{text}});
  const auto handle = verb ? handler_of(*made) : nullptr;
  if (handle == nullptr) return made->fail(no_such_method());
  if (decides_by_reading(*made)) return at_newest(made, handle);
  handle(made);
}

}  // namespace troupe::server
