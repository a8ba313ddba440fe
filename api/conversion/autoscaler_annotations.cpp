#include "api/conversion/autoscaler_annotations.hpp"

#include <array>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/codec/go_json.hpp"
#include "api/codec/json_dom.hpp"
#include "api/codec/json_text.hpp"
#include "api/values/ascii.hpp"

namespace troupe::api {

namespace {

namespace hub = autoscaling::v2;

constexpr auto metrics_annotation = "autoscaling.alpha.kubernetes.io/metrics";
constexpr auto current_annotation = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr auto behavior_annotation = "autoscaling.alpha.kubernetes.io/behavior";
constexpr auto conditions_annotation = "autoscaling.alpha.kubernetes.io/conditions";

constexpr auto no_amount = "0";

// A member of a metric's source in v1, and its place in v2: in the object `group` of the source, or
// in the source itself.
struct old_member {
  const char* name;
  const char* group;  // null: none
  const char* field;
  bool amount_of_zero = false;  // v1 writes a missing amount as zero
};

// The target of a metric, or its measured value.
constexpr auto value_group = "value";
constexpr auto metric_group = "metric";

struct old_source {
  std::string_view name;
  bool measured;
  std::array<old_member, 5> members;  // in the order of Go's type; unused ones have no name
};
constexpr std::array old_sources = {
    old_source{"object",
               false,
               {{{"target", nullptr, "describedObject"},
                 {"metricName", metric_group, "name"},
                 {"targetValue", value_group, "value", true},
                 {"selector", metric_group, "selector"},
                 {"averageValue", value_group, "averageValue"}}}},
    old_source{"object",
               true,
               {{{"target", nullptr, "describedObject"},
                 {"metricName", metric_group, "name"},
                 {"currentValue", value_group, "value", true},
                 {"selector", metric_group, "selector"},
                 {"averageValue", value_group, "averageValue"}}}},
    old_source{"pods",
               false,
               {{{"metricName", metric_group, "name"},
                 {"targetAverageValue", value_group, "averageValue", true},
                 {"selector", metric_group, "selector"}}}},
    old_source{"pods",
               true,
               {{{"metricName", metric_group, "name"},
                 {"currentAverageValue", value_group, "averageValue", true},
                 {"selector", metric_group, "selector"}}}},
    old_source{"resource",
               false,
               {{{"name", nullptr, "name"},
                 {"targetAverageUtilization", value_group, "averageUtilization"},
                 {"targetAverageValue", value_group, "averageValue"}}}},
    old_source{"resource",
               true,
               {{{"name", nullptr, "name"},
                 {"currentAverageUtilization", value_group, "averageUtilization"},
                 {"currentAverageValue", value_group, "averageValue", true}}}},
    old_source{"containerResource",
               false,
               {{{"name", nullptr, "name"},
                 {"targetAverageUtilization", value_group, "averageUtilization"},
                 {"targetAverageValue", value_group, "averageValue"},
                 {"container", nullptr, "container"}}}},
    old_source{"containerResource",
               true,
               {{{"name", nullptr, "name"},
                 {"currentAverageUtilization", value_group, "averageUtilization"},
                 {"currentAverageValue", value_group, "averageValue", true},
                 {"container", nullptr, "container"}}}},
    old_source{"external",
               false,
               {{{"metricName", metric_group, "name"},
                 {"metricSelector", metric_group, "selector"},
                 {"targetValue", value_group, "value"},
                 {"targetAverageValue", value_group, "averageValue"}}}},
    old_source{"external",
               true,
               {{{"metricName", metric_group, "name"},
                 {"metricSelector", metric_group, "selector"},
                 {"currentValue", value_group, "value", true},
                 {"currentAverageValue", value_group, "averageValue"}}}},
};

const old_source* find_source(std::string_view name, bool measured) {
  for (const auto& each : old_sources)
    if (each.name == name && each.measured == measured) return &each;
  return nullptr;
}

const char* group_name(const old_source& source, const char* group) {
  if (group != value_group) return group;
  return source.measured ? "current" : "target";
}

// The member in which v2 holds the value, made if it is missing.
json_value& group_of(json_value& source, const char* name, json_allocator& memory) {
  if (auto* found = find_member(source, name)) return *found;
  source.AddMember(rapidjson::StringRef(name), json_value(rapidjson::kObjectType), memory);
  return *find_member(source, name);
}

// -- from v1 --------------------------------------------------------------------------------------

bool is_no_amount(const json_value* value) {
  return value != nullptr && value->IsString() && text_of(*value) == no_amount;
}

// v1 does not have the type: upstream derives it in the same way.
void set_target_type(json_value& target, std::string_view source, json_allocator& memory) {
  // The value is written also where only the average counts.
  if (source == "object" && target.HasMember("averageValue") &&
      is_no_amount(find_member(target, "value")))
    target.RemoveMember("value");
  const bool has_average = target.HasMember("averageValue");
  const bool by_value = target.HasMember("value") && (source == "external" || !has_average);
  const char* type = target.HasMember("averageUtilization") ? "Utilization"
                     : by_value                             ? "Value"
                                                            : "AverageValue";
  target.AddMember("type", rapidjson::StringRef(type), memory);
}

// The source of a metric, or its measured value, in the form of v2.
json_value modernized(json_value& source, const old_source& form, json_allocator& memory) {
  json_value made(rapidjson::kObjectType);
  for (const auto& each : form.members) {
    auto* found = each.name == nullptr ? nullptr : find_member(source, each.name);
    if (found == nullptr || found->IsNull()) continue;
    auto& into =
        each.group == nullptr ? made : group_of(made, group_name(form, each.group), memory);
    into.AddMember(rapidjson::StringRef(each.field), *found, memory);
  }
  auto& value = group_of(made, group_name(form, value_group), memory);
  if (!form.measured) set_target_type(value, form.name, memory);
  return made;
}

void modernize_sources(json_value& metric, bool measured, json_allocator& memory) {
  for (auto& member : metric.GetObject()) {
    const auto* form = find_source(text_of(member.name), measured);
    if (form != nullptr && member.value.IsObject())
      member.value = modernized(member.value, *form, memory);
  }
}

// False if the text is no list of metrics.
template <class Metric>
bool read_metrics(const std::string& text, bool measured,
                  google::protobuf::RepeatedPtrField<Metric>& into) {
  json_document tree;
  if (!parse_json(tree, text, "metrics") || !tree.IsArray()) return false;
  for (auto& each : tree.GetArray()) {
    if (!each.IsObject()) return false;
    modernize_sources(each, measured, tree.GetAllocator());
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

// Makes the first letter of each name a small one. parse_json bounds the nesting.
void lower_names(json_value& value, json_allocator& memory) {
  if (value.IsArray())
    for (auto& each : value.GetArray())
      lower_names(each, memory);
  if (!value.IsObject()) return;
  for (auto& member : value.GetObject()) {
    std::string name{text_of(member.name)};
    if (!name.empty()) name.front() = to_lower(name.front());
    member.name = make_text(name, memory);
    lower_names(member.value, memory);
  }
}

void take_behavior(const std::string& text, hub::HorizontalPodAutoscaler& home) {
  json_document tree;
  if (!parse_json(tree, text, "behavior") || !tree.IsObject()) return;
  lower_names(tree, tree.GetAllocator());
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

// The source of a metric, or its measured value, in the form of v1.
json_value aged(json_value& source, const old_source& form, json_allocator& memory) {
  json_value made(rapidjson::kObjectType);
  for (const auto& each : form.members) {
    if (each.name == nullptr) continue;
    auto* from =
        each.group == nullptr ? &source : find_member(source, group_name(form, each.group));
    auto* found = from == nullptr ? nullptr : find_member(*from, each.field);
    if (found != nullptr)
      made.AddMember(rapidjson::StringRef(each.name), *found, memory);
    else if (each.amount_of_zero)
      made.AddMember(rapidjson::StringRef(each.name), rapidjson::StringRef(no_amount), memory);
  }
  return made;
}

void add_old(json_document& list, const body& metric, bool measured) {
  auto& memory = list.GetAllocator();
  json_document tree(&memory);
  if (!parse_json(tree, encode_json(metric, "", ""), "metric")) return;
  for (auto& member : tree.GetObject()) {
    const auto* form = find_source(text_of(member.name), measured);
    if (form != nullptr && member.value.IsObject())
      member.value = aged(member.value, *form, memory);
  }
  list.PushBack(tree, memory);
}

std::string metrics_text(const json_document& list) {
  std::string text;
  append_ordered_json(text, list);
  return as_go_writes(text);
}

// Go's names of the fields of its internal type, which it writes also where they are nil.
void append_rules(std::string& out, const hub::HPAScalingRules& rules) {
  out += R"({"StabilizationWindowSeconds":)";
  out += rules.has_stabilization_window_seconds()
             ? std::to_string(rules.stabilization_window_seconds())
             : "null";
  out += R"(,"SelectPolicy":)";
  out += rules.has_select_policy() ? quoted(rules.select_policy()) : "null";
  out += R"(,"Policies":)";
  std::string policies;
  for (const auto& each : rules.policies())
    policies += (policies.empty() ? R"([{"Type":)" : R"(,{"Type":)") + quoted(each.type()) +
                R"(,"Value":)" + std::to_string(each.value()) + R"(,"PeriodSeconds":)" +
                std::to_string(each.period_seconds()) + '}';
  out += policies.empty() ? "null" : policies + ']';
  // Releases without this field ignore it.
  if (rules.has_tolerance()) out += R"(,"Tolerance":)" + quoted(rules.tolerance().string());
  out += '}';
}

std::string behavior_text(const hub::HorizontalPodAutoscalerBehavior& behavior) {
  std::string text = R"({"ScaleUp":)";
  if (behavior.has_scale_up())
    append_rules(text, behavior.scale_up());
  else
    text += "null";
  text += R"(,"ScaleDown":)";
  if (behavior.has_scale_down())
    append_rules(text, behavior.scale_down());
  else
    text += "null";
  return as_go_writes(text + '}');
}

std::string conditions_text(const hub::HorizontalPodAutoscalerStatus& status) {
  std::string text;
  for (const auto& each : status.conditions())
    text += (text.empty() ? "[" : ",") + encode_json(each, "", "");
  return as_go_writes(text + ']');
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
  if (!metrics.Empty()) made[metrics_annotation] = metrics_text(metrics);
  if (!current.Empty()) made[current_annotation] = metrics_text(current);
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
