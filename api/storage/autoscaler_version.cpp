// HorizontalPodAutoscaler in autoscaling/v1. Upstream stores fields that the version lacks in
// annotations: metrics and conditions in JSON of their own form, the behavior in JSON with Go's
// field names. Reading drops the annotations; measured values are measured again.
#include <array>
#include <cctype>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/codec/json_dom.hpp"
#include "api/conversion/shapes.hpp"
#include "api/schema/autoscaling_hpa_v1.pb.h"
#include "api/schema/autoscaling_v2.pb.h"
#include "api/storage/version_shapes.hpp"

namespace troupe::api {

namespace {

namespace hub = autoscaling::v2;
using old_autoscaler = autoscaling::v1::HorizontalPodAutoscaler;

constexpr auto metrics_annotation = "autoscaling.alpha.kubernetes.io/metrics";
constexpr auto current_annotation = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr auto behavior_annotation = "autoscaling.alpha.kubernetes.io/behavior";
constexpr auto conditions_annotation = "autoscaling.alpha.kubernetes.io/conditions";

// The names of targets in each source, and their types.
struct target_name {
  const char* old_name;
  const char* type;
  const char* field;
};
constexpr std::array target_names = {
    target_name{"targetAverageUtilization", "Utilization", "averageUtilization"},
    target_name{"targetAverageValue", "AverageValue", "averageValue"},
    target_name{"averageValue", "AverageValue", "averageValue"},
    target_name{"targetValue", "Value", "value"},
};

void move_member(json_value& from, const char* name, json_value& into, const char* as,
                 json_allocator& memory) {
  const auto found = from.FindMember(name);
  if (found == from.MemberEnd()) return;
  into.AddMember(rapidjson::StringRef(as), std::move(found->value), memory);
  from.RemoveMember(found);
}

// Converts a metric source from autoscaling/v1's form to v2's.
void convert_source(json_value& source, json_allocator& memory) {
  json_value described;
  if (const auto found = source.FindMember("target"); found != source.MemberEnd()) {
    described = std::move(found->value);
    source.RemoveMember(found);
  }
  json_value target(rapidjson::kObjectType);
  for (const auto& each : target_names) {
    const auto found = source.FindMember(each.old_name);
    if (found == source.MemberEnd()) continue;
    if (target.ObjectEmpty()) {
      target.AddMember("type", rapidjson::StringRef(each.type), memory);
      target.AddMember(rapidjson::StringRef(each.field), std::move(found->value), memory);
    }
    source.RemoveMember(each.old_name);
  }
  json_value metric(rapidjson::kObjectType);
  move_member(source, "metricName", metric, "name", memory);
  move_member(source, "metricSelector", metric, "selector", memory);
  move_member(source, "selector", metric, "selector", memory);
  if (!metric.ObjectEmpty()) source.AddMember("metric", std::move(metric), memory);
  source.AddMember("target", std::move(target), memory);
  if (described.IsObject()) source.AddMember("describedObject", std::move(described), memory);
}

void read_metrics(const std::string& text, hub::HorizontalPodAutoscalerSpec& into) {
  json_document tree;
  if (!parse_json(tree, text, "metrics") || !tree.IsArray()) return;
  hub::HorizontalPodAutoscalerSpec found;
  for (auto& each : tree.GetArray()) {
    if (!each.IsObject()) return;
    for (auto& member : each.GetObject())
      if (member.value.IsObject()) convert_source(member.value, tree.GetAllocator());
    if (!decode_into(write_json(each), media::json, *found.add_metrics())) return;
  }
  // The cpu metric comes last.
  *found.mutable_metrics() = [&] {
    auto all = found.metrics();
    all.MergeFrom(into.metrics());
    return all;
  }();
  *into.mutable_metrics() = found.metrics();
}

// Changes "ScaleUp" to "scaleUp". parse_json bounds the nesting.
void lower_names(json_value& value, json_allocator& memory) {
  if (value.IsArray())
    for (auto& each : value.GetArray())
      lower_names(each, memory);
  if (!value.IsObject()) return;
  for (auto& member : value.GetObject()) {
    std::string name{text_of(member.name)};
    if (!name.empty())
      name.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
    member.name = make_text(name, memory);
    lower_names(member.value, memory);
  }
}

void read_behavior(const std::string& text, hub::HorizontalPodAutoscalerSpec& into) {
  json_document tree;
  if (!parse_json(tree, text, "behavior") || !tree.IsObject()) return;
  lower_names(tree, tree.GetAllocator());
  strip_nulls(tree);
  hub::HorizontalPodAutoscalerBehavior found;
  if (decode_into(write_json(tree), media::json, found) && found.ByteSizeLong() != 0)
    *into.mutable_behavior() = std::move(found);
}

void read_conditions(const std::string& text, hub::HorizontalPodAutoscalerStatus& into) {
  json_document tree;
  if (!parse_json(tree, text, "conditions") || !tree.IsArray()) return;
  for (const auto& each : tree.GetArray()) {
    hub::HorizontalPodAutoscalerCondition found;
    if (decode_into(write_json(each), media::json, found))
      *into.add_conditions() = std::move(found);
  }
}

void read(const body& stored, body& home) {
  autoscaler_shape.take(stored, home);
  auto& into = static_cast<hub::HorizontalPodAutoscaler&>(home);
  *into.mutable_metadata() = static_cast<const old_autoscaler&>(stored).metadata();
  auto& annotations = *into.mutable_metadata()->mutable_annotations();
  if (const auto found = annotations.find(metrics_annotation); found != annotations.end())
    read_metrics(found->second, *into.mutable_spec());
  if (const auto found = annotations.find(behavior_annotation); found != annotations.end())
    read_behavior(found->second, *into.mutable_spec());
  if (const auto found = annotations.find(conditions_annotation); found != annotations.end())
    read_conditions(found->second, *into.mutable_status());
  for (const auto* name :
       {metrics_annotation, current_annotation, behavior_annotation, conditions_annotation})
    annotations.erase(name);
}

void write(const body& home, body& stored) {
  autoscaler_shape.show(home, stored);
  *static_cast<old_autoscaler&>(stored).mutable_metadata() =
      static_cast<const hub::HorizontalPodAutoscaler&>(home).metadata();
}

}  // namespace

const version_shape& autoscaler_v1_shape() {
  static const version_shape made{*old_autoscaler::descriptor(), &read, &write};
  return made;
}

}  // namespace troupe::api
