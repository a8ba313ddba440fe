#include "server/rest/proxy/node_proxy.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "actors/link/node_links.hpp"
#include "actors/link/node_requests.hpp"
#include "actors/nodes/node_rules.hpp"
#include "actors/usage/simulated_usage.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"
#include "runtime/actor_system.hpp"
#include "server/metrics/metrics.hpp"
#include "server/rest/defaults.hpp"
#include "server/rest/proxy/backend_request.hpp"
#include "server/rest/proxy/proxies.hpp"
#include "server/rest/proxy/proxy_target.hpp"
#include "server/rest/usage/measured_node.hpp"
#include "server/rest/usage/node_questions.hpp"

namespace troupe::server {
namespace {

using api::object_ptr;
using api::core::v1::Node;
using api::core::v1::Pod;

constexpr const char* text_type = "text/plain; charset=utf-8";
// The content type of Prometheus' text format.
constexpr const char* metrics_type = metrics::content_type;

void answer_text(const call_ptr& call, int status, const char* type, std::string text) {
  response out;
  out.status = status;
  out.content_type = type;
  out.content = body{std::move(text)};
  call->answer(std::move(out));
}

void fail_to_reach(const call_ptr& call, std::string_view node, const char* reason) {
  call->fail(api::service_unavailable(
      fmt::format("error trying to reach service: node {} {}", node, reason)));
}

api::expected<std::vector<object_ptr>> pods_on(const persistence::snapshot& state,
                                               std::string_view node) {
  const auto& kind = api::kind_of<Pod>();
  const auto fields = api::field_selector::parse(kind, fmt::format("spec.nodeName={}", node));
  if (!fields) return tl::make_unexpected(fields.error());
  std::vector<object_ptr> found;
  state.scan(kind.prefix(""), "", [&](std::string_view, const object_ptr& pod) {
    const auto stored = pod->stored();
    if ((stored.empty() || fields->may_match(stored)) && fields->matches(pod->content()))
      found.push_back(pod);
    return true;
  });
  return found;
}

void list_pods(const call_ptr& call, const object_ptr& node) {
  const auto state = call->services.read();
  auto pods = pods_on(state, node->meta().name());
  if (!pods) return call->fail(pods.error());
  list_page page;
  page.kind = &api::kind_of<Pod>();
  page.revision = state.at();
  page.items = std::move(*pods);
  call->answer(list_answer({}, std::move(page)));
}

void answer_health(const call_ptr& call, const object_ptr& node) {
  if (actors::readiness_of(node->as<Node>()) != actors::readiness::ready)
    return fail_to_reach(call, node->meta().name(), "is not ready");
  answer_text(call, 200, text_type, "ok");
}

// Queries the node's usage, and responds with the document made by `write`.
template <class Write>
void measure(const call_ptr& call, const object_ptr& node, const char* type, Write write) {
  const auto answer = [call, node, type, write](actors::usage_by_node usage) {
    call->run([call, node, type, write, usage = std::move(usage)] {
      const auto& name = node->meta().name();
      const auto found = usage.find(name);
      // A simulated node without load has no usage to report.
      if (found == usage.end() && !actors::is_simulated(node->as<Node>()))
        return fail_to_reach(call, name, "does not say what it uses");
      const auto pods = pods_on(call->services.read(), name);
      if (!pods) return call->fail(pods.error());
      const auto& figures = found == usage.end() ? actors::node_usage{} : found->second;
      answer_text(call, 200, type,
                  write(call->request->query, {node->as<Node>(), *pods, figures, wall_now()}));
    });
  };
  query_nodes(call->services.plane, {node->meta().name()}, answer);
}

void answer_summary(const call_ptr& call, const object_ptr& node) {
  measure(call, node, "application/json", [](const query_string& query, const measured_node& of) {
    return stats_summary(of, query.flag("only_cpu_and_memory"));
  });
}
void answer_resource_metrics(const call_ptr& call, const object_ptr& node) {
  measure(call, node, metrics_type,
          [](const query_string&, const measured_node& of) { return resource_metrics(of); });
}
void answer_cadvisor_metrics(const call_ptr& call, const object_ptr& node) {
  measure(call, node, metrics_type,
          [](const query_string&, const measured_node& of) { return cadvisor_metrics(of); });
}

// A joined node's console has this text (node_console.hpp). Simulated nodes have no counters.
void answer_metrics(const call_ptr& call, const object_ptr& node) {
  const auto& name = node->meta().name();
  auto& plane = call->services.plane;
  if (actors::is_simulated(node->as<Node>())) return answer_text(call, 200, metrics_type, {});
  if (plane.system().actors().find(actors::usage_meter_kind, name))
    return call->run([call] { answer_text(call, 200, metrics_type, machine_metrics()); });
  using reply = tl::expected<const actors::console_view*, runtime::request_error>;
  plane.system().request<actors::console_view>(
      plane.links().actor(), actors::ask_console{name, {"metrics", false, {}}},
      defaults::usage_wait, [call, name](const reply& answered) {
        if (!answered) return fail_to_reach(call, name, "does not answer");
        const auto& [status, text, total] = **answered;
        if (status == 200) return answer_text(call, 200, metrics_type, text);
        if (status == 0)
          return call->fail(api::service_unavailable("error trying to reach service: " + text));
        fail_to_reach(call, name,
                      status == 404 ? "is too old to serve its metrics" : "is too busy to answer");
      });
}

struct page {
  std::string_view path;
  void (*answer)(const call_ptr& call, const object_ptr& node);
};
constexpr page pages[] = {{"/healthz", &answer_health},
                          {"/pods", &list_pods},
                          {"/stats/summary", &answer_summary},
                          {"/metrics", &answer_metrics},
                          {"/metrics/resource", &answer_resource_metrics},
                          {"/metrics/cadvisor", &answer_cadvisor_metrics}};

}  // namespace

void connect_node_proxy(const call_ptr& call) {
  const auto id = parse_proxy_name(call->route.name);
  if (!id)
    return call->fail(
        api::bad_request(fmt::format("invalid node request \"{}\"", call->route.name)));
  const auto found = call->services.read().find(call->kind().key({}, id->name));
  if (!found) return call->fail(api::not_found(call->kind(), id->name));
  if (redirect_to_path(call)) return;
  const auto path = remaining_path(*call->request);
  std::string known;
  for (const auto& each : pages) {
    if (call->verb == verb::get && path == each.path) return each.answer(call, found);
    known += fmt::format(" {}", each.path);
  }
  answer_text(
      call, 404, text_type,
      fmt::format("node {} has no port of its own: what can be read here is{}\n", id->name, known));
}

}  // namespace troupe::server
