#include "actors/controllers/autoscaling/metric_queries.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "actors/controllers/autoscaling/scale_target.hpp"
#include "api/kind.hpp"
#include "api/schema/apiregistration_v1.pb.h"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"

namespace troupe::actors::autoscaling {
namespace {

using api::apiregistration::v1::APIService;
using api::autoscaling::v2::MetricIdentifier;
using api::autoscaling::v2::MetricSpec;
using source = metric_query::source;

result<metric_query> made(source of, const std::string& ns, const MetricIdentifier& metric) {
  metric_query query{.of = of, .ns = ns, .name = metric.name()};
  if (!metric.has_selector()) return query;
  const auto selector = api::label_selector::from(metric.selector());
  if (!selector) return tl::make_unexpected(selector.error().message);
  query.selector = selector->str();
  return query;
}

}  // namespace

bool is_foreign(const MetricSpec& metric) {
  return metric.type() == "Pods" || metric.type() == "Object" || metric.type() == "External";
}

result<metric_query> query_for(const MetricSpec& metric, const std::string& ns,
                               const std::string& pods) {
  if (metric.type() == "External") return made(source::external, ns, metric.external().metric());
  if (metric.type() == "Pods") {
    auto query = made(source::pods, ns, metric.pods().metric());
    if (query) query->pods = pods;
    return query;
  }
  auto query = made(source::object, ns, metric.object().metric());
  if (!query) return query;
  const auto& object = metric.object().described_object();
  const auto& version = object.api_version();
  const auto group = version.substr(0, version.find('/') == version.npos ? 0 : version.find('/'));
  const auto kind = find_kind(version, group, object.kind());
  if (!kind)
    return tl::make_unexpected(
        fmt::format("no matches for kind \"{}\" in group \"{}\"", object.kind(), group));
  query->resource = kind->plural() + (group.empty() ? "" : "." + group);
  query->object = object.name();
  query->namespaced = kind->namespaced();
  return query;
}

std::optional<metric_query> usage_query(const persistence::snapshot& state, const std::string& ns,
                                        const std::string& pods) {
  const auto found = state.find(api::kind_of<APIService>().key({}, "v1beta1.metrics.k8s.io"));
  if (!found || !found->as<APIService>().spec().has_service()) return std::nullopt;
  return metric_query{.of = source::usage, .ns = ns, .pods = pods};
}

std::vector<measured_pod> measured_by(const metric_values& answer,
                                      const std::vector<api::object_ptr>& pods) {
  std::vector<measured_pod> result;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const auto& pod : pods) {
    places[pod->meta().name()] = result.size();
    result.push_back({.object = pod});
  }
  if (!answer) return result;
  for (const auto& each : *answer) {
    const auto place = places.find(each.object);
    if (place == places.end()) continue;
    auto& of = result[place->second];
    of.usage.push_back({each.container, each.cpu_nano, each.memory_bytes});
    of.at = each.at;
    of.window = each.window;
  }
  return result;
}

}  // namespace troupe::actors::autoscaling
