#include "server/rest/usage/usage_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/schema/metrics_v1beta1.pb.h"
#include "api/scheme.hpp"
#include "api/values/quantity.hpp"

namespace troupe::server {
namespace {

using actors::resource_usage;
using api::core::v1::Pod;
using api::metrics::v1beta1::NodeMetrics;
using api::metrics::v1beta1::PodMetrics;
using amounts = google::protobuf::Map<std::string, api::resource::Quantity>;

void write_amounts(amounts& out, const resource_usage& figure) {
  const auto cpu = api::quantity::parse(fmt::format("{}n", figure.cpu_nano));
  const auto memory = api::quantity::of(static_cast<std::int64_t>(figure.memory_bytes),
                                        api::quantity::notation::binary);
  out["cpu"].set_string(cpu.value_or(api::quantity{}).str());
  out["memory"].set_string(memory.str());
}

// Sets name, labels, and the timestamp of the figures, which is the current time minus their age.
template <class Metrics>
void write_head(Metrics& out, const measured_object& of, std::chrono::nanoseconds window) {
  const auto& from = of.object.meta();
  auto& meta = *out.mutable_metadata();
  meta.set_name(from.name());
  if (!from.namespace_().empty()) meta.set_namespace_(from.namespace_());
  *meta.mutable_labels() = from.labels();
  meta.mutable_creation_timestamp()->set_seconds(of.now.seconds);
  const auto now = std::chrono::seconds{of.now.seconds} + std::chrono::nanoseconds{of.now.nanos};
  const auto end = std::chrono::floor<std::chrono::seconds>(now - of.usage.age);
  out.mutable_timestamp()->set_seconds(end.count());
  out.mutable_window()->set_duration(window.count());
}

const resource_usage* figure_of(const actors::node_usage& usage, const std::string& pod_uid,
                                const std::string& container) {
  const auto found = std::find_if(
      usage.containers.begin(), usage.containers.end(),
      [&](const auto& each) { return each.pod_uid == pod_uid && each.container == container; });
  return found == usage.containers.end() ? nullptr : &found->figure;
}

}  // namespace

api::object_ptr node_metrics(const measured_object& of) {
  if (!of.usage.machine) return nullptr;
  auto made = std::make_unique<NodeMetrics>();
  write_head(*made, of, of.usage.machine->window);
  write_amounts(*made->mutable_usage(), *of.usage.machine);
  return std::make_shared<const api::object>(api::kind_of<NodeMetrics>(), std::move(made), 0);
}

api::object_ptr pod_metrics(const measured_object& of) {
  auto made = std::make_unique<PodMetrics>();
  std::chrono::nanoseconds window{0};
  const auto& spec = of.object.as<Pod>().spec();
  for (const auto* all : {&spec.init_containers(), &spec.containers()})
    for (const auto& container : *all) {
      const auto* figure = figure_of(of.usage, of.object.meta().uid(), container.name());
      if (figure == nullptr) continue;
      auto& out = *made->add_containers();
      out.set_name(container.name());
      write_amounts(*out.mutable_usage(), *figure);
      window = std::max(window, figure->window);
    }
  if (made->containers().empty()) return nullptr;
  write_head(*made, of, window);
  return std::make_shared<const api::object>(api::kind_of<PodMetrics>(), std::move(made), 0);
}

api::error no_metrics(const api::object& object) {
  const bool namespaced = object.kind().namespaced();
  const auto& kind = namespaced ? api::kind_of<PodMetrics>() : api::kind_of<NodeMetrics>();
  const auto name =
      namespaced ? object.meta().namespace_() + "/" + object.meta().name() : object.meta().name();
  auto error = api::not_found(kind, name);
  error.kind = kind.options().singular();
  error.message = fmt::format("{}.{} \"{}\" not found", error.kind, kind.group(), name);
  return error;
}

}  // namespace troupe::server
