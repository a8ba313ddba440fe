#include <fmt/format.h>

#include <memory>
#include <optional>
#include <random>

#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/v1beta1/objects.pb.h"
#include "api/v1beta1/pod.pb.h"
#include "api/v1beta1/v1beta1.hpp"
#include "server/legacy/verbs.hpp"

namespace troupe::server::legacy {
namespace {

using api::v1beta1::Event;
using api::v1beta1::Pod;

// A selectable field of a kind. `T` is the kind in this version.
template <class T>
struct selectable_field {
  std::string_view name;
  std::string (*value)(const T& shown);
};

constexpr selectable_field<Pod> pod_fields[] = {
    {"DesiredState.Status", [](const Pod& pod) { return pod.desired_state().status(); }},
    {"DesiredState.Host", [](const Pod& pod) { return pod.desired_state().host(); }},
};

// upstream: pkg/registry/event/rest.go, getAttrs.
constexpr selectable_field<Event> event_fields[] = {
    {"involvedObject.kind", [](const Event& event) { return event.involved_object().kind(); }},
    {"involvedObject.namespace",
     [](const Event& event) { return event.involved_object().namespace_(); }},
    {"involvedObject.name", [](const Event& event) { return event.involved_object().name(); }},
    {"involvedObject.uid", [](const Event& event) { return event.involved_object().uid(); }},
    {"involvedObject.apiVersion",
     [](const Event& event) { return event.involved_object().api_version(); }},
    {"involvedObject.resourceVersion",
     [](const Event& event) { return event.involved_object().resource_version(); }},
    {"involvedObject.fieldPath",
     [](const Event& event) { return event.involved_object().field_path(); }},
    {"reason", [](const Event& event) { return event.reason(); }},
    {"source", [](const Event& event) { return event.source(); }},
};

// The value in an object of that kind; nullopt if the kind has no such field.
template <class T, std::size_t N>
std::optional<std::string> value_in(const selectable_field<T> (&fields)[N], const api::body& shown,
                                    std::string_view name) {
  for (const auto& field : fields)
    if (field.name == name) return field.value(static_cast<const T&>(shown));
  return std::nullopt;
}

std::optional<std::string> value_of(const api::kind_info& shape, const api::body& shown,
                                    std::string_view field) {
  if (field == "ID") return api::v1beta1::type_meta(shown).id();
  if (&shape.type() == Pod::descriptor()) return value_in(pod_fields, shown, field);
  if (&shape.type() == Event::descriptor()) return value_in(event_fields, shown, field);
  return std::nullopt;
}

bool match_fields(const legacy_selector& fields, const api::object& content,
                  const api::kind_info& shape) {
  if (fields.everything()) return true;
  const auto shown = api::v1beta1::from_hub(content.content(), shape);
  return fields.matches(
      [&](const std::string& field) { return value_of(shape, *shown, field).value_or(""); });
}

api::expected<legacy_selector> parse(const legacy_call& call, std::string_view parameter,
                                     bool lenient) {
  const auto text = call.request->query.get_or(parameter, "");
  auto made = legacy_selector::parse(text);
  if (made) return *made;
  if (lenient) return legacy_selector{};
  return api::fail(api::internal(
      fmt::format("invalid selector: '{}'; expected terms a=b or a!=b joined by commas", text)));
}

}  // namespace

bool choice::matches(const api::object& content, const api::kind_info& shape) const {
  const auto& values = content.meta().labels();
  return labels.matches([&](const std::string& key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string() : found->second;
  }) && match_fields(fields, content, shape);
}

api::expected<choice> parse_choice(const legacy_call& call, bool watching) {
  auto labels = parse(call, "labels", watching);
  if (!labels) return api::fail(labels.error());
  labels->replace_values(&api::v1beta1::label_value_of);
  auto fields = parse(call, "fields", watching);
  if (!fields) return api::fail(fields.error());
  const auto& shape = *call.at.shape;
  const auto any = shape.make();
  if (const auto unknown = fields->unknown(
          [&](std::string_view field) { return value_of(shape, *any, field).has_value(); }))
    return api::fail(api::internal(
        fmt::format("{} cannot be selected by the field '{}'", shape.plural(), *unknown)));
  return choice{std::move(*labels), std::move(*fields)};
}

void get_object(const legacy_call_ptr& call) {
  const auto found = call->services.read().find(call->key());
  if (!found) return call->fail(api::not_found(*call->at.hub, call->at.id));
  call->answer(200, object_json(*found, *call->at.shape));
}

void list_objects(const legacy_call_ptr& call) {
  const auto filter = parse_choice(*call, false);
  if (!filter) return call->fail(filter.error());
  const auto state = call->services.read();
  std::vector<api::object_ptr> items;
  state.scan(call->at.hub->prefix(call->at.ns), {},
             [&](std::string_view, const api::object_ptr& each) {
               if (filter->everything() || filter->matches(*each, *call->at.shape))
                 items.push_back(each);
               return true;
             });
  call->answer(200, list_json(items, *call->at.shape, state.at()));
}

void redirect(const legacy_call_ptr& call) {
  using api::core::v1::Endpoints;
  const auto& kind = api::kind_of<Endpoints>();
  if (call->at.shape->kind() != "Service")
    return call->fail(api::bad_request(
        fmt::format("only services lead somewhere; {} do not", call->at.shape->plural())));
  const auto found = call->services.read().find(kind.key(call->at.ns, call->at.name));
  std::vector<std::string> all;
  if (found) {
    const auto shown = api::v1beta1::from_hub(
        found->content(), *api::v1beta1::kind_named(Endpoints::descriptor()->name()));
    for (const auto& each : static_cast<const api::v1beta1::Endpoints&>(*shown).endpoints())
      all.push_back(each);
  }
  if (all.empty())
    return call->fail(
        api::internal(fmt::format("no endpoints are known for the service \"{}\"", call->at.id)));
  static thread_local std::minstd_rand source{std::random_device{}()};
  response out;
  out.status = 307;
  out.fields.push_back({"location", "http://" + all[source() % all.size()]});
  call->answer(std::move(out));
}

}  // namespace troupe::server::legacy
