#include "server/legacy/container_logs.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/v1beta1/v1beta1.hpp"
#include "server/legacy/shapes.hpp"
#include "server/rest/calls/call.hpp"
#include "server/rest/calls/pod_containers.hpp"
#include "server/rest/logs/logs.hpp"

namespace troupe::server::legacy {
namespace {

using api::core::v1::Pod;

constexpr std::size_t minion_at = 2, ns_at = 4, pod_at = 5, container_at = 6;

std::string query_of(const request& request, std::string_view container) {
  auto query = "container=" + percent_encode(container);
  if (request.query.flag("follow")) query += "&follow=true";
  if (const auto tail = request.query.get("tail"); tail && !tail->empty())
    query += "&tailLines=" + percent_encode(*tail);
  return query;
}

}  // namespace

void get_container_log(rest_services& services, const request& request, responder answer,
                       const std::vector<std::string_view>& parts) {
  const auto name = api::v1beta1::name_of(parts[pod_at]);
  const auto& pods = api::kind_of<Pod>();
  const auto found = services.read().find(pods.key(parts[ns_at], name));
  const auto minion = api::v1beta1::name_of(parts[minion_at]);
  if (!found || found->as<Pod>().spec().node_name() != minion)
    return answer.respond(
        text_response(404, fmt::format("Pod \"{}\" does not exist\n", parts[pod_at])));
  if (!container_named(found->as<Pod>(), std::string{parts[container_at]}))
    return answer.respond(
        text_response(404, fmt::format("Container \"{}\" not found in Pod \"{}\"\n",
                                       parts[container_at], parts[pod_at])));
  // The same request for today's API.
  auto asked = std::make_shared<server::request>(request);
  asked->path = fmt::format("/api/v1/namespaces/{}/pods/{}/log", parts[ns_at], name);
  asked->query = query_string{query_of(request, parts[container_at])};
  asked->info = parse_request_info("GET", asked->path, asked->query);
  const auto route = route_of(asked->info);
  get_log(std::make_shared<call>(services, std::move(asked), std::move(answer), route, verb::get));
}

}  // namespace troupe::server::legacy
