#include "server/rest/handlers/usage.hpp"

#include <utility>
#include <vector>

#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/schema/metrics_v1beta1.pb.h"
#include "api/scheme.hpp"
#include "server/rest/handlers/reading.hpp"
#include "server/rest/usage/node_questions.hpp"
#include "server/rest/usage/usage_objects.hpp"

namespace troupe::server {
namespace {

using actors::usage_by_node;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::metrics::v1beta1::NodeMetrics;
using api::metrics::v1beta1::PodMetrics;

bool of_pods(const call& call) {
  return call.kind().namespaced();
}

// The kind whose objects are measured.
const api::kind_info& measured_kind(const call& call) {
  return of_pods(call) ? api::kind_of<Pod>() : api::kind_of<Node>();
}

// By the object's labels, and by the fields of its metrics: name and namespace.
bool is_chosen(const call& call, const list_options& options, const api::object& object) {
  if (!options.labels.matches(object.meta().labels())) return false;
  if (options.fields.everything()) return true;
  const auto metrics = call.kind().make();
  api::meta_of(*metrics).set_name(object.meta().name());
  api::meta_of(*metrics).set_namespace_(object.meta().namespace_());
  return options.fields.matches(*metrics);
}

// The node that measures an object; empty if there is none: the pod does not run.
std::string node_of(const api::object& object) {
  if (&object.kind() == &api::kind_of<Node>()) return object.meta().name();
  const auto& pod = object.as<Pod>();
  return pod.status().phase() == "Running" ? pod.spec().node_name() : std::string{};
}

// Null if it was not measured.
api::object_ptr metrics_of(const api::object& object, const usage_by_node& usage) {
  const auto found = usage.find(node_of(object));
  if (found == usage.end()) return nullptr;
  const measured_object measured{object, found->second, wall_now()};
  return object.kind().namespaced() ? pod_metrics(measured) : node_metrics(measured);
}

// Queries the nodes of these objects, and continues on the connection's thread.
void measure(const call_ptr& call, const std::vector<api::object_ptr>& objects,
             std::function<void(const usage_by_node&)> then) {
  std::set<std::string> nodes;
  for (const auto& each : objects)
    if (auto node = node_of(*each); !node.empty()) nodes.insert(std::move(node));
  query_nodes(call->services.plane, nodes, [call, then = std::move(then)](usage_by_node usage) {
    call->run(
        [usage = std::make_shared<const usage_by_node>(std::move(usage)), then] { then(*usage); });
  });
}

}  // namespace

bool is_usage(const api::kind_info& kind) {
  return &kind == &api::kind_of<NodeMetrics>() || &kind == &api::kind_of<PodMetrics>();
}

void get_usage(const call_ptr& call) {
  const auto& kind = measured_kind(*call);
  const auto found = call->services.read().find(kind.key(call->route.ns, call->route.name));
  if (!found) return call->fail(api::not_found(kind, call->route.name));
  measure(call, {found}, [call, found](const usage_by_node& usage) {
    const auto made = metrics_of(*found, usage);
    if (!made) return call->fail(no_metrics(*found));
    call->answer(200, made);
  });
}

void list_usage(const call_ptr& call) {
  const auto options = parse_list_options(call->kind(), call->request->query, false);
  if (!options) return call->fail(options.error());
  const auto state = call->services.read();
  std::vector<api::object_ptr> objects;
  state.scan(measured_kind(*call).prefix(call->route.ns), {},
             [&](std::string_view, const api::object_ptr& object) {
               if (is_chosen(*call, *options, *object)) objects.push_back(object);
               return true;
             });
  measure(call, objects, [call, objects, at = state.at()](const usage_by_node& usage) {
    list_page page{&call->kind(), {}, at, {}, {}};
    for (const auto& each : objects)
      if (auto made = metrics_of(*each, usage)) page.items.push_back(std::move(made));
    answer_list(call, std::move(page));
  });
}

}  // namespace troupe::server
