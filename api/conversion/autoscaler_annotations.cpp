#include "api/conversion/autoscaler_annotations.hpp"

#include <array>
#include <cctype>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/codec/json_dom.hpp"

namespace troupe::api {

namespace {

namespace hub = autoscaling::v2;

constexpr auto metrics_annotation = "autoscaling.alpha.kubernetes.io/metrics";
constexpr auto current_annotation = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr auto behavior_annotation = "autoscaling.alpha.kubernetes.io/behavior";
constexpr auto conditions_annotation = "autoscaling.alpha.kubernetes.io/conditions";

// A target or measured value of a metric: its name in v1, and its field in v2.
struct value_name {
  const char* old_name;
  const char* field;
  const char* type;  // of a target
};
// Of several names the first that is there counts. `averageValue` is the name in v1 for metrics of
// objects, which have a `targetValue` of 0 besides.
constexpr std::array target_names = {
    value_name{"targetAverageUtilization", "averageUtilization", "Utilization"},
    value_name{"targetAverageValue", "averageValue", "AverageValue"},
    value_name{"averageValue", "averageValue", "AverageValue"},
    value_name{"targetValue", "value", "Value"},
};
constexpr std::array current_names = {
    value_name{"currentAverageUtilization", "averageUtilization", ""},
    value_name{"currentAverageValue", "averageValue", ""},
    value_name{"averageValue", "averageValue", ""},
    value_name{"currentValue", "value", ""},
};

void move_member(json_value& from, const char* name, json_value& into, const char* as,
                 json_allocator& memory) {
  const auto found = from.FindMember(name);
  if (found == from.MemberEnd()) return;
  json_value value(std::move(found->value));
  from.RemoveMember(found);
  into.AddMember(rapidjson::StringRef(as), std::move(value), memory);
}

// -- from v1 --------------------------------------------------------------------------------------

json_value take_target(json_value& source, json_allocator& memory) {
  json_value target(rapidjson::kObjectType);
  for (const auto& each : target_names) {
    if (target.ObjectEmpty() && source.HasMember(each.old_name)) {
      target.AddMember("type", rapidjson::StringRef(each.type), memory);
      move_member(source, each.old_name, target, each.field, memory);
    }
    source.RemoveMember(each.old_name);
  }
  return target;
}

json_value take_current(json_value& source, json_allocator& memory) {
  json_value current(rapidjson::kObjectType);
  for (const auto& each : current_names)
    move_member(source, each.old_name, current, each.field, memory);
  return current;
}

// Converts the source of a metric, or its measured value, from v1's form to v2's.
void modernize(json_value& source, bool measured, json_allocator& memory) {
  json_value described;
  if (const auto found = source.FindMember("target"); found != source.MemberEnd()) {
    described = std::move(found->value);
    source.RemoveMember(found);
  }
  auto value = measured ? take_current(source, memory) : take_target(source, memory);
  json_value metric(rapidjson::kObjectType);
  move_member(source, "metricName", metric, "name", memory);
  move_member(source, "metricSelector", metric, "selector", memory);
  move_member(source, "selector", metric, "selector", memory);
  if (!metric.ObjectEmpty()) source.AddMember("metric", std::move(metric), memory);
  source.AddMember(rapidjson::StringRef(measured ? "current" : "target"), std::move(value), memory);
  if (described.IsObject()) source.AddMember("describedObject", std::move(described), memory);
}

// False if the text is no list of metrics.
template <class Metric>
bool read_metrics(const std::string& text, bool measured,
                  google::protobuf::RepeatedPtrField<Metric>& into) {
  json_document tree;
  if (!parse_json(tree, text, "metrics") || !tree.IsArray()) return false;
  for (auto& each : tree.GetArray()) {
    if (!each.IsObject()) return false;
    for (auto& member : each.GetObject())
      if (member.value.IsObject()) modernize(member.value, measured, tree.GetAllocator());
    if (!decode_into(write_json(each), media::json, *into.Add())) return false;
  }
  return true;
}

// The cpu utilization comes last, as upstream.
void take_metrics(const std::string& text, hub::HorizontalPodAutoscaler& home) {
  google::protobuf::RepeatedPtrField<hub::MetricSpec> metrics;
  if (!read_metrics(text, false, metrics)) return;
  if (const auto* cpu = find_cpu(home)) *metrics.Add() = *cpu;
  home.mutable_spec()->mutable_metrics()->Swap(&metrics);
}

void take_current_metrics(const std::string& text, hub::HorizontalPodAutoscaler& home) {
  google::protobuf::RepeatedPtrField<hub::MetricStatus> metrics;
  if (read_metrics(text, true, metrics))
    home.mutable_status()->mutable_current_metrics()->Swap(&metrics);
}

// Changes the first letter of each name. parse_json bounds the nesting.
template <class Change>
void change_names(json_value& value, Change change, json_allocator& memory) {
  if (value.IsArray())
    for (auto& each : value.GetArray())
      change_names(each, change, memory);
  if (!value.IsObject()) return;
  for (auto& member : value.GetObject()) {
    std::string name{text_of(member.name)};
    if (!name.empty())
      name.front() = static_cast<char>(change(static_cast<unsigned char>(name.front())));
    member.name = make_text(name, memory);
    change_names(member.value, change, memory);
  }
}
int lower(int letter) {
  return std::tolower(letter);
}
int upper(int letter) {
  return std::toupper(letter);
}

void take_behavior(const std::string& text, hub::HorizontalPodAutoscaler& home) {
  json_document tree;
  if (!parse_json(tree, text, "behavior") || !tree.IsObject()) return;
  change_names(tree, &lower, tree.GetAllocator());
  strip_nulls(tree);
  hub::HorizontalPodAutoscalerBehavior found;
  if (decode_into(write_json(tree), media::json, found) && found.ByteSizeLong() != 0)
    *home.mutable_spec()->mutable_behavior() = std::move(found);
}

void take_conditions(const std::string& text, hub::HorizontalPodAutoscaler& home) {
  json_document tree;
  if (!parse_json(tree, text, "conditions") || !tree.IsArray()) return;
  google::protobuf::RepeatedPtrField<hub::HorizontalPodAutoscalerCondition> conditions;
  for (const auto& each : tree.GetArray())
    if (!decode_into(write_json(each), media::json, *conditions.Add())) return;
  home.mutable_status()->mutable_conditions()->Swap(&conditions);
}

// -- to v1 ----------------------------------------------------------------------------------------

// The names in v1 of the values of a metric of that source.
const char* old_name(std::string_view source, const value_name& value, bool measured) {
  if (source == "object" && std::string_view{value.field} == "averageValue") return "averageValue";
  for (const auto& each : measured ? current_names : target_names)
    if (std::string_view{each.field} == value.field) return each.old_name;
  return value.old_name;
}

// Fields that v1 always has.
const char* required_name(std::string_view source, bool measured) {
  if (source == "object") return measured ? "currentValue" : "targetValue";
  if (!measured) return nullptr;
  return source == "external" ? "currentValue" : "currentAverageValue";
}

void make_old(json_value& source, std::string_view name, bool measured, json_allocator& memory) {
  json_value value(rapidjson::kObjectType), metric(rapidjson::kObjectType);
  if (auto* found = find_member(source, measured ? "current" : "target")) value.Swap(*found);
  source.RemoveMember(measured ? "current" : "target");
  if (auto* found = find_member(source, "metric")) metric.Swap(*found);
  source.RemoveMember("metric");
  move_member(source, "describedObject", source, "target", memory);
  for (const auto& each : current_names)
    if (value.HasMember(each.field))
      move_member(value, each.field, source, old_name(name, each, measured), memory);
  move_member(metric, "name", source, "metricName", memory);
  move_member(metric, "selector", source, name == "external" ? "metricSelector" : "selector",
              memory);
  if (const auto* needed = required_name(name, measured); needed && !source.HasMember(needed))
    source.AddMember(rapidjson::StringRef(needed), rapidjson::StringRef("0"), memory);
}

void add_old(json_document& list, const body& metric, bool measured) {
  json_document tree(&list.GetAllocator());
  if (!parse_json(tree, encode_json(metric, "", ""), "metric")) return;
  for (auto& member : tree.GetObject())
    if (member.value.IsObject())
      make_old(member.value, text_of(member.name), measured, list.GetAllocator());
  list.PushBack(tree, list.GetAllocator());
}

std::string behavior_text(const hub::HorizontalPodAutoscalerBehavior& behavior) {
  json_document tree;
  if (!parse_json(tree, encode_json(behavior, "", ""), "behavior")) return {};
  change_names(tree, &upper, tree.GetAllocator());
  return write_json(tree);
}

std::string conditions_text(const hub::HorizontalPodAutoscalerStatus& status) {
  std::string text;
  for (const auto& each : status.conditions())
    text += (text.empty() ? "[" : ",") + encode_json(each, "", "");
  return text + "]";
}

}  // namespace

const hub::MetricSpec* find_cpu(const hub::HorizontalPodAutoscaler& of) {
  for (const auto& each : of.spec().metrics())
    if (each.type() == "Resource" && each.resource().name() == "cpu" &&
        each.resource().target().has_average_utilization())
      return &each;
  return nullptr;
}

autoscaler_annotations annotations_of(const hub::HorizontalPodAutoscaler& home) {
  autoscaler_annotations made;
  json_document metrics(rapidjson::kArrayType), current(rapidjson::kArrayType);
  const auto* cpu = find_cpu(home);
  for (const auto& each : home.spec().metrics())
    if (&each != cpu) add_old(metrics, each, false);
  for (const auto& each : home.status().current_metrics())
    add_old(current, each, true);
  if (!metrics.Empty()) made[metrics_annotation] = write_json(metrics);
  if (!current.Empty()) made[current_annotation] = write_json(current);
  if (home.spec().has_behavior()) made[behavior_annotation] = behavior_text(home.spec().behavior());
  if (home.status().conditions_size() != 0)
    made[conditions_annotation] = conditions_text(home.status());
  return made;
}

void take_annotations(const meta::v1::ObjectMeta& written, const autoscaler_annotations& known,
                      hub::HorizontalPodAutoscaler& home) {
  using taker = void (*)(const std::string&, hub::HorizontalPodAutoscaler&);
  constexpr std::pair<const char*, taker> takers[] = {
      {metrics_annotation, &take_metrics},
      {current_annotation, &take_current_metrics},
      {behavior_annotation, &take_behavior},
      {conditions_annotation, &take_conditions},
  };
  for (const auto& [name, take] : takers) {
    const auto found = written.annotations().find(name);
    if (found == written.annotations().end()) continue;
    const auto same = known.find(name);
    if (same == known.end() || same->second != found->second) take(found->second, home);
  }
}

void remove_annotations(meta::v1::ObjectMeta& meta) {
  for (const auto* name :
       {metrics_annotation, current_annotation, behavior_annotation, conditions_annotation})
    meta.mutable_annotations()->erase(name);
}

}  // namespace troupe::api
