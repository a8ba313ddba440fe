#include "server/legacy/object_proxy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "api/v1beta1/v1beta1.hpp"
#include "server/legacy/defaults.hpp"
#include "server/legacy/operations.hpp"
#include "server/legacy/shapes.hpp"
#include "server/rest/calls/call.hpp"
#include "server/rest/proxy/proxies.hpp"
#include "server/rest/requests/route.hpp"

namespace troupe::server::legacy {
namespace {

constexpr std::size_t resource_at = 1, id_at = 2;

// The path after the id, including its slash.
std::string remaining_path(std::string_view path, std::string_view id) {
  const auto slash = path.find('/', static_cast<std::size_t>(id.data() - path.data()));
  return std::string{slash == path.npos ? std::string_view{} : path.substr(slash)};
}

// The hub's name for the id, followed by an optional port.
std::string name_of_today(std::string_view id) {
  const auto colon = std::min(id.find(':'), id.size());
  return api::v1beta1::name_of(id.substr(0, colon)) + std::string{id.substr(colon)};
}

}  // namespace

bool is_object_request(const std::vector<std::string_view>& parts) {
  return parts.size() > id_at && parts[0] == "proxy" &&
         (parts[resource_at] == "pods" || parts[resource_at] == "services");
}

void pass_to_object(rest_services& services, const request& request, responder answer,
                    const std::vector<std::string_view>& parts) {
  auto ns = request.query.get_or("namespace", defaults::ns);
  if (ns.empty()) ns = defaults::ns;
  if (ns.find('/') != ns.npos) return answer.respond(unknown_path(request));
  auto asked = std::make_shared<server::request>(request);
  asked->info = parse_request_info(request.method_text,
                                   fmt::format("/api/v1/namespaces/{}/{}/{}/proxy", ns,
                                               parts[resource_at], name_of_today(parts[id_at])),
                                   query_string{std::string{}});
  asked->long_running = true;
  const auto route = route_of(asked->info);
  const auto verb = verb_of(route, asked->info).value_or(server::verb::get);
  proxy_path(std::make_shared<call>(services, std::move(asked), std::move(answer), route, verb),
             remaining_path(request.path, parts[id_at]));
}

}  // namespace troupe::server::legacy
