#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/v1beta1/objects.pb.h"
#include "api/v1beta1/pod.pb.h"
#include "api/v1beta1/v1beta1.hpp"
#include "server/legacy/verbs.hpp"

namespace troupe::server::legacy {
namespace {

using api::v1beta1::Pod;

constexpr std::string_view pod_fields[] = {"ID", "DesiredState.Status", "DesiredState.Host"};

bool is_pod(const api::kind_info& shape) {
  return &shape.type() == Pod::descriptor();
}

bool selectable(const api::kind_info& shape, std::string_view field) {
  return field == "ID" || (is_pod(shape) && std::find(std::begin(pod_fields), std::end(pod_fields),
                                                      field) != std::end(pod_fields));
}

std::string value_of(const api::body& shown, const std::string& field) {
  if (field == "ID") return api::v1beta1::type_meta(shown).id();
  const auto& wanted = static_cast<const Pod&>(shown).desired_state();
  return field == "DesiredState.Host" ? wanted.host() : wanted.status();
}

bool match_fields(const legacy_selector& fields, const api::object& content,
                  const api::kind_info& shape) {
  if (fields.everything()) return true;
  const auto shown = api::v1beta1::from_hub(content.content(), shape);
  return fields.matches([&](const std::string& field) { return value_of(*shown, field); });
}

api::expected<legacy_selector> parse(const legacy_call& what, std::string_view parameter,
                                     bool lenient) {
  const auto text = what.what->query.get_or(parameter, "");
  auto made = legacy_selector::parse(text);
  if (made) return *made;
  if (lenient) return legacy_selector{};
  return api::fail(api::internal(
      fmt::format("invalid selector: '{}'; expected terms a=b or a!=b joined by commas", text)));
}

}  // namespace

bool choice::matches(const api::object& content, const api::kind_info& shape) const {
  const auto& given = content.meta().labels();
  return labels.matches([&](const std::string& key) {
    const auto found = given.find(key);
    return found == given.end() ? std::string() : found->second;
  }) && match_fields(fields, content, shape);
}

api::expected<choice> parse_choice(const legacy_call& what, bool watching) {
  auto labels = parse(what, "labels", watching);
  if (!labels) return api::fail(labels.error());
  auto fields = parse(what, "fields", watching);
  if (!fields) return api::fail(fields.error());
  const auto& shape = *what.at.shape;
  if (const auto unknown =
          fields->unknown([&](std::string_view field) { return selectable(shape, field); }))
    return api::fail(api::internal(
        fmt::format("{} cannot be selected by the field '{}'", shape.plural(), *unknown)));
  return choice{std::move(*labels), std::move(*fields)};
}

void get_object(const legacy_call_ptr& what) {
  const auto found = what->in.read().find(what->key());
  if (!found) return what->fail(api::not_found(*what->at.hub, what->at.id));
  what->answer(200, object_json(*found, *what->at.shape));
}

void list_objects(const legacy_call_ptr& what) {
  const auto wanted = parse_choice(*what, false);
  if (!wanted) return what->fail(wanted.error());
  const auto state = what->in.read();
  std::vector<api::object_ptr> items;
  state.scan(what->at.hub->prefix(what->at.space), {},
             [&](std::string_view, const api::object_ptr& each) {
               if (wanted->everything() || wanted->matches(*each, *what->at.shape))
                 items.push_back(each);
               return true;
             });
  what->answer(200, list_json(items, *what->at.shape, state.at()));
}

void redirect(const legacy_call_ptr& what) {
  using api::core::v1::Endpoints;
  const auto& kind = api::kind_of<Endpoints>();
  if (what->at.shape->kind() != "Service")
    return what->fail(api::bad_request(
        fmt::format("only services lead somewhere; {} do not", what->at.shape->plural())));
  const auto found = what->in.read().find(kind.key(what->at.space, what->at.name));
  std::vector<std::string> all;
  if (found) {
    const auto shown = api::v1beta1::from_hub(
        found->content(), *api::v1beta1::kind_named(Endpoints::descriptor()->name()));
    for (const auto& each : static_cast<const api::v1beta1::Endpoints&>(*shown).endpoints())
      all.push_back(each);
  }
  if (all.empty())
    return what->fail(
        api::internal(fmt::format("no endpoints are known for the service \"{}\"", what->at.id)));
  static thread_local std::minstd_rand source{std::random_device{}()};
  response out;
  out.status = 307;
  out.fields.push_back({"location", "http://" + all[source() % all.size()]});
  what->answer(std::move(out));
}

}  // namespace troupe::server::legacy
