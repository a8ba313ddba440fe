#include "server/legacy/minion_proxy.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/v1beta1/pod.pb.h"
#include "api/v1beta1/v1beta1.hpp"
#include "server/legacy/container_logs.hpp"
#include "server/legacy/defaults.hpp"
#include "server/legacy/operations.hpp"
#include "server/legacy/shapes.hpp"
#include "server/rest/calls/call.hpp"
#include "server/rest/proxy/proxies.hpp"

namespace troupe::server::legacy {
namespace {

constexpr std::size_t minion_at = 2, path_at = 3, log_part_count = 7, short_part_count = 4;

// {"CONTAINER":{"state":...,"restartCount":0,...},...}
std::string info_json(const api::body& pod) {
  const auto shown = api::v1beta1::from_hub(pod, *api::v1beta1::kind_named("Pod"));
  const auto& info = static_cast<const api::v1beta1::Pod&>(*shown).current_state().info();
  std::map<std::string, std::string> texts;
  for (const auto& [container, status] : info)
    texts[container] = api::encode_json(status, {}, {});
  std::string out = "{";
  for (const auto& [container, text] : texts)
    out += fmt::format("{}\"{}\":{}", out.size() > 1 ? "," : "", container, text);
  return out + "}";
}

// upstream: pkg/kubelet/server.go, handlePodInfo. v0.2 had no namespaces.
response pod_info(rest_services& services, const request& request, std::string_view minion) {
  using api::core::v1::Pod;
  const auto id = request.query.get_or("podID", "");
  if (id.empty()) return text_response(400, "Missing 'podID=' query entry.\n");
  auto ns = request.query.get_or("podNamespace", defaults::ns);
  if (ns.empty()) ns = defaults::ns;
  const auto found = services.read().find(api::kind_of<Pod>().key(ns, api::v1beta1::name_of(id)));
  const auto uid = request.query.get_or("UUID", "");
  if (!found || found->as<Pod>().spec().node_name() != api::v1beta1::name_of(minion) ||
      (!uid.empty() && uid != found->meta().uid()))
    return text_response(404, "Pod does not exist\n");
  return json_response(200, info_json(found->content()));
}

// The same request for today's API.
void get_health(rest_services& services, const request& request, responder answer,
                std::string_view minion) {
  auto asked = std::make_shared<server::request>(request);
  asked->path = fmt::format("/api/v1/nodes/{}/proxy/healthz", api::v1beta1::name_of(minion));
  asked->query = query_string{std::string{}};
  asked->info = parse_request_info("GET", asked->path, asked->query);
  const auto route = route_of(asked->info);
  connect_proxy(
      std::make_shared<call>(services, std::move(asked), std::move(answer), route, verb::get));
}

}  // namespace

bool is_minion_request(const std::vector<std::string_view>& parts) {
  return parts.size() > path_at && parts[0] == "proxy" &&
         (parts[1] == "minions" || parts[1] == "minion");
}

void answer_for_minion(rest_services& services, const request& request, responder answer,
                       const std::vector<std::string_view>& parts) {
  const auto path = parts[path_at];
  if (request.method != http_method::get) return answer.respond(unknown_path(request));
  if (path == "containerLogs" && parts.size() == log_part_count)
    return get_container_log(services, request, std::move(answer), parts);
  if (path == "podInfo" && parts.size() == short_part_count)
    return answer.respond(pod_info(services, request, parts[minion_at]));
  if (path == "healthz" && parts.size() == short_part_count)
    return get_health(services, request, std::move(answer), parts[minion_at]);
  answer.respond(unknown_path(request));
}

}  // namespace troupe::server::legacy
