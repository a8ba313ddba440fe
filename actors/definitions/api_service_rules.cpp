#include "actors/definitions/api_service_rules.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "actors/core/condition.hpp"
#include "actors/core/labels.hpp"
#include "api/discovery/served_groups.hpp"
#include "api/equality.hpp"
#include "api/scheme.hpp"
#include "api/strategy/strategy.hpp"
#include "api/values/local_api_services.hpp"
#include "api/values/uid.hpp"

namespace troupe::actors {

using api::apiextensions::v1::CustomResourceDefinition;
using api::apiregistration::v1::APIService;

namespace {

constexpr const char* management_label = "kube-aggregator.kubernetes.io/automanaged";
constexpr const char* label_on_start = "onstart";
constexpr const char* label_always = "true";
// Upstream's aggregator has no APIService for its own group. The name of the other one must be free
// for the server that replaces it.
constexpr std::string_view unregistered_groups[] = {"apiregistration.k8s.io",
                                                    api::replaceable_group};

std::string name_of(std::string_view group, std::string_view version) {
  return std::string{version}.append(".").append(group);
}

// The names for all versions of built-in groups, which are constant.
const std::set<std::string>& built_in_names() {
  static const auto all = [] {
    std::set<std::string> out;
    for (const auto* kind : api::scheme::instance().all())
      if (!kind->custom() && !kind->plural().empty())
        out.insert(name_of(kind->group(), kind->version()));
    return out;
  }();
  return all;
}

bool is_registered(std::string_view name) {
  const auto group = name.substr(name.find('.') + 1);
  return std::ranges::find(unregistered_groups, group) == std::end(unregistered_groups);
}

bool has_spec_of(const api::object& current, const APIService& wanted) {
  return api::same_meaning(current.as<APIService>().spec(), wanted.spec());
}

}  // namespace

api_management management_of(const api::object& api_service) {
  const auto& label = label_of(api_service, management_label);
  if (label == label_on_start) return api_management::on_start;
  return label == label_always ? api_management::always : api_management::none;
}

std::unique_ptr<APIService> local_api_service(std::string_view name, api_management management) {
  const auto dot = name.find('.');
  const auto version = name.substr(0, dot), group = name.substr(dot + 1);
  auto made = std::make_unique<APIService>();
  auto& meta = *made->mutable_metadata();
  meta.set_name(std::string{name});
  (*meta.mutable_labels())[management_label] =
      management == api_management::always ? label_always : label_on_start;
  auto& spec = *made->mutable_spec();
  const auto priority = api::priority_of(group, version);
  if (!group.empty()) spec.set_group(std::string{group});
  spec.set_version(std::string{version});
  spec.set_group_priority_minimum(priority.group);
  spec.set_version_priority(priority.version);
  return made;
}

std::vector<std::string> api_services_of(const CustomResourceDefinition& definition) {
  std::vector<std::string> out;
  const auto& group = definition.spec().group();
  for (const auto& each : definition.spec().versions())
    if (auto name = name_of(group, each.name()); each.served() && !built_in_names().contains(name))
      out.push_back(std::move(name));
  return out;
}

api_service_action action_for(std::string_view name, bool wanted, const api::object* current) {
  if (current == nullptr) return wanted ? api_service_action::create : api_service_action::none;
  if (management_of(*current) != api_management::always || current->meta().has_deletion_timestamp())
    return api_service_action::none;
  // A built-in version with that label is put right at the next start (reconcile_api_services).
  if (!wanted)
    return built_in_names().contains(std::string{name}) ? api_service_action::none
                                                        : api_service_action::remove;
  const bool same = has_spec_of(*current, *local_api_service(name, api_management::always));
  return same ? api_service_action::none : api_service_action::restore;
}

void reconcile_api_services(const persistence::snapshot& state, runtime::wall_time now,
                            std::mt19937_64& random, persistence::transaction& into) {
  const auto& kind = api::kind_of<APIService>();
  std::set<std::string> missing;
  std::ranges::copy_if(built_in_names(), std::inserter(missing, missing.end()), is_registered);
  state.scan(kind.prefix(), {}, [&](std::string_view key, const api::object_ptr& found) {
    const bool served = missing.erase(found->meta().name()) != 0;
    const auto management = management_of(*found);
    if (management == api_management::none || found->meta().has_deletion_timestamp()) return true;
    if (!served && (management == api_management::always || !found->meta().finalizers().empty()))
      return true;
    const auto wanted = local_api_service(found->meta().name(), api_management::on_start);
    if (served && management == api_management::on_start && has_spec_of(*found, *wanted))
      return true;
    into.preconditions.push_back({std::string{key}, found->revision()});
    std::unique_ptr<APIService> changed;
    if (served) {
      changed = found->copy_as<APIService>();
      *changed->mutable_spec() = wanted->spec();
      (*changed->mutable_metadata()->mutable_labels())[management_label] = label_on_start;
    }
    into.mutations.push_back({std::string{key}, &kind, std::move(changed)});
    return true;
  });
  for (const auto& name : missing) {
    auto made = local_api_service(name, api_management::on_start);
    const auto uid = api::generated_uid(random);
    const api::random_bits draw = [&random] { return random(); };
    api::prepare_create(kind, *made, {uid, seconds_of(now), draw});
    auto key = kind.key({}, name);
    into.preconditions.push_back({key, 0});
    into.mutations.push_back({std::move(key), &kind, std::move(made)});
  }
}

}  // namespace troupe::actors
