#include "server/rest/aggregation/metric_requests.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <utility>

#include "api/values/duration.hpp"
#include "api/values/quantity.hpp"
#include "api/values/timestamp.hpp"
#include "api/values/utf8.hpp"
#include "server/http/query.hpp"
#include "server/rest/aggregation/defaults.hpp"

namespace troupe::server {
namespace {

using actors::metric_query;
using actors::metric_value;
using actors::metric_values;
using rapidjson::Value;
using source = metric_query::source;

std::string object_path(const metric_query& query) {
  const auto metric = percent_encode(query.name);
  if (query.of == source::pods)
    return fmt::format("/namespaces/{}/pods/*/{}", percent_encode(query.ns), metric);
  if (query.resource == "namespaces")
    return fmt::format("/namespaces/{}/metrics/{}", percent_encode(query.object), metric);
  const auto space = query.namespaced ? "/namespaces/" + percent_encode(query.ns) : std::string{};
  return fmt::format("{}/{}/{}/{}", space, percent_encode(query.resource),
                     percent_encode(query.object), metric);
}

const Value* member(const Value& of, const char* name) {
  if (!of.IsObject()) return nullptr;
  const auto found = of.FindMember(name);
  return found == of.MemberEnd() ? nullptr : &found->value;
}

std::string text(const Value& of, const char* name) {
  const auto* found = member(of, name);
  return found != nullptr && found->IsString()
             ? std::string{found->GetString(), found->GetStringLength()}
             : std::string{};
}

api::quantity amount(const Value& of, const char* name) {
  return api::quantity::parse(text(of, name)).value_or(api::quantity{});
}

// Clamps to 8 TiB: no pod uses more, and products of such amounts do not overflow.
std::uint64_t whole(std::int64_t amount) {
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(amount, 0, 1LL << 43));
}

std::int64_t seconds_at(const Value& of, const char* name) {
  const auto at = api::parse_time(text(of, name));
  return at ? at->seconds : 0;
}

void read_value(const Value& item, source of, std::vector<metric_value>& into) {
  metric_value made;
  if (const auto* object = member(item, "describedObject"); object != nullptr)
    made.object = text(*object, "name");
  const auto value = api::quantity::parse(text(item, "value"));
  if (!value || (of == source::pods && made.object.empty())) return;
  made.milli = value->milli_value();
  made.at = seconds_at(item, "timestamp");
  const auto* window = member(item, "windowSeconds");
  // kubernetes: podautoscaler/metrics, metricServerDefaultMetricWindow.
  made.window = window != nullptr && window->IsInt64() ? window->GetInt64() : 60;
  into.push_back(std::move(made));
}

void read_usage(const Value& item, std::vector<metric_value>& into) {
  const auto* meta = member(item, "metadata");
  const auto* containers = member(item, "containers");
  if (meta == nullptr || containers == nullptr || !containers->IsArray()) return;
  for (const auto& each : containers->GetArray()) {
    const auto* usage = member(each, "usage");
    if (usage == nullptr) continue;
    const auto window = api::parse_duration(text(item, "window"));
    into.push_back({.object = text(*meta, "name"),
                    .at = seconds_at(item, "timestamp"),
                    .window = window ? *window / 1'000'000'000 : 0,
                    .container = text(each, "name"),
                    .cpu_nano = whole(amount(*usage, "cpu").milli_value()) * 1'000'000,
                    .memory_bytes = whole(amount(*usage, "memory").value())});
  }
}

// The error message of the server, or that of client-go.
std::string refusal(const fetch_answer& answer) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(answer.body.data(), answer.body.size());
  if (!document.HasParseError() && text(document, "kind") == "Status")
    if (auto message = text(document, "message"); !message.empty())
      return message.substr(0, api::utf8_prefix(message, defaults::metric_message_bytes));
  if (answer.status == 404) return "the server could not find the requested resource";
  if (answer.status == 503) return "the server is currently unable to handle the request";
  return fmt::format("the server responded with the status code {}", answer.status);
}

std::string_view api_of(source of) {
  return of == source::usage ? "resource" : of == source::external ? "external" : "custom";
}

}  // namespace

std::string metric_target(const aggregated_api& api, const metric_query& query) {
  std::vector<std::pair<const char*, const std::string&>> asked;
  auto out = api.path();
  if (query.of == source::usage) {
    out += fmt::format("/namespaces/{}/pods", percent_encode(query.ns));
    asked.emplace_back("labelSelector", query.pods);
  } else if (query.of == source::external) {
    out += fmt::format("/namespaces/{}/{}", percent_encode(query.ns), percent_encode(query.name));
    asked.emplace_back("labelSelector", query.selector);
  } else {
    out += object_path(query);
    asked.emplace_back("labelSelector", query.pods);
    asked.emplace_back("metricLabelSelector", query.selector);
  }
  char before = '?';
  for (const auto& [name, value] : asked) {
    if (value.empty()) continue;
    out += fmt::format("{}{}={}", std::exchange(before, '&'), name, percent_encode(value));
  }
  return out;
}

metric_values read_metrics(const metric_query& query, const fetch_result& answer) {
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status != 200) return tl::make_unexpected(refusal(*answer));
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(answer->body.data(), answer->body.size());
  const auto* items = document.HasParseError() ? nullptr : member(document, "items");
  if (items == nullptr || !items->IsArray())
    return tl::make_unexpected(std::string{"the response is not a list of metrics"});
  std::vector<metric_value> values;
  for (const auto& each : items->GetArray())
    if (query.of == source::usage)
      read_usage(each, values);
    else
      read_value(each, query.of, values);
  if (query.of == source::object && values.size() != 1)
    return tl::make_unexpected(fmt::format(
        "the custom metrics API server returned {} results when we asked for exactly one",
        values.size()));
  if (values.empty())
    return tl::make_unexpected(
        fmt::format("no metrics returned from {} metrics API", api_of(query.of)));
  return values;
}

}  // namespace troupe::server
