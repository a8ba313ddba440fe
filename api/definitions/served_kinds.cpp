#include "api/definitions/served_kinds.hpp"

#include <algorithm>

#include "api/custom/custom_version.hpp"
#include "api/definitions/names.hpp"
#include "api/definitions/rules.hpp"
#include "api/equality.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::api::definitions {

using apiextensions::v1::CustomResourceDefinitionVersion;

namespace {

Kind options_of(const CustomResourceDefinition& definition,
                const CustomResourceDefinitionVersion& version) {
  const auto& spec = definition.spec();
  const auto& names = definition.status().accepted_names();
  Kind made;
  made.set_group(spec.group());
  made.set_version(version.name());
  made.set_plural(spec.names().plural());
  made.set_kind(names.kind().empty() ? spec.names().kind() : names.kind());
  made.set_singular(names.singular());
  if (names.list_kind() != made.kind() + "List") made.set_list_kind(names.list_kind());
  *made.mutable_short_names() = names.short_names();
  *made.mutable_categories() = names.categories();
  made.set_namespaced(spec.scope() == "Namespaced");
  made.set_has_generation(true);
  made.set_has_status(version.subresources().has_status());
  made.set_has_scale(version.subresources().has_scale());
  for (const auto& each : version.selectable_fields())
    if (each.json_path().starts_with('.')) made.add_selectable_fields(each.json_path().substr(1));
  if (!version.served()) made.add_verbs("none");
  return made;
}

}  // namespace

bool is_served(const CustomResourceDefinition& definition) {
  return condition_holds(definition, "Established") || condition_holds(definition, "NamesAccepted");
}

bool serve_same_kinds(const CustomResourceDefinition& now, const CustomResourceDefinition& was) {
  return now.metadata().has_deletion_timestamp() == was.metadata().has_deletion_timestamp() &&
         is_served(now) == is_served(was) && same_meaning(now.spec(), was.spec()) &&
         same_meaning(now.status().accepted_names(), was.status().accepted_names());
}

bool have_same_schemas(const CustomResourceDefinition& now, const CustomResourceDefinition& was) {
  if (now.spec().preserve_unknown_fields() != was.spec().preserve_unknown_fields()) return false;
  const auto& a = now.spec().versions();
  const auto& b = was.spec().versions();
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name() == y.name() && x.storage() == y.storage() &&
           x.schema().open_api_v3_schema().raw() == y.schema().open_api_v3_schema().raw();
  });
}

std::string objects_prefix(const CustomResourceDefinition& definition) {
  Kind options;
  options.set_group(definition.spec().group());
  options.set_plural(definition.spec().names().plural());
  return kind_info::make_custom(std::move(options))->prefix();
}

bool overlaps_built_in(const CustomResourceDefinition& definition) {
  const auto& spec = definition.spec();
  const auto& plural = spec.names().plural();
  for (const auto* kind : scheme::instance().all())
    if (!kind->custom() && kind->group() == spec.group() && kind->plural() == plural) return true;
  const auto stored = scheme::instance().find_key(objects_prefix(definition));
  return stored && !stored->custom();
}

std::vector<custom_kind> served_kinds(const object_ptr& definition, std::uint64_t since) {
  const auto& whole = definition->as<CustomResourceDefinition>();
  std::vector<custom_kind> made;
  for (int i = 0; i < whole.spec().versions_size(); ++i) {
    const auto& version = whole.spec().versions(i);
    if (!version.served() && !version.storage()) continue;
    made.push_back(
        {options_of(whole, version), std::make_shared<const custom_version>(definition, i, since)});
    if (version.storage()) std::swap(made.front(), made.back());
  }
  return made;
}

}  // namespace troupe::api::definitions
