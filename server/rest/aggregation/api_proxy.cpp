#include "server/rest/aggregation/api_proxy.hpp"

#include <fmt/format.h>

#include <utility>

#include "runtime/actor_system.hpp"
#include "server/http/status.hpp"
#include "server/rest/aggregation/backends.hpp"
#include "server/rest/proxy/backend_request.hpp"
#include "server/rest/proxy/proxy_session.hpp"
#include "server/rest/proxy/proxy_target.hpp"

namespace troupe::server {
namespace {

// The authorized path and the one that the server parses must be equal.
bool has_dot_segments(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

}  // namespace

void forward_request(const call_ptr& call, const aggregated_api& to) {
  const auto& request = *call->request;
  if (has_dot_segments(request.path))
    return call->fail(api::bad_request("the path has segments \".\" or \"..\""));
  auto fields = front_fields_of(*request.user);
  if (!fields)
    return call->fail(api::bad_request("the name of the user or of a group of it cannot be sent"));
  if (!to.available) return call->answer(plain_error(503, "service unavailable\n"));
  auto target = call->services.aggregated->servers.target(to, request.id);
  if (!target) return call->answer(plain_error(503, "service unavailable\n"));
  const front_fields front{fmt::format("{}:{}", to.server_name(), to.port), std::move(*fields)};
  call->services.plane.system().spawn(
      {.kind = "proxy",
       .name = fmt::format("{}/{}/{:x}", to.group, to.version, request.id),
       .restart = false},
      runtime::make<proxy_session>(
          call, std::move(*target),
          proxied_request{.head = backend_request_head(request, request.path, &front),
                          .path = request.path,
                          .plain_errors = true}));
}

}  // namespace troupe::server
