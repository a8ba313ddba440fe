#include "actors/core/settings_file.hpp"

#include <fmt/format.h>
#include <google/protobuf/message.h>

#include "api/codec/codec.hpp"
#include "api/codec/json_decode.hpp"
#include "api/strategy/defaults.hpp"
#include "api/type_info.hpp"
#include "api/validation/validation.hpp"
#include "config/nearest.hpp"

namespace troupe::actors {

namespace {

std::string join(std::string_view path, std::string_view field) {
  if (path.empty() || field.empty()) return std::string{path.empty() ? field : path};
  return fmt::format("{}{}{}", path, field.front() == '[' ? "" : ".", field);
}

// The members of the object that contains the field at `path`: "profiles[0].plugins.filters".
std::vector<std::string> members_beside(std::string_view path, const api::type_info* type) {
  for (auto dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    const auto name = path.substr(0, dot);
    const auto* member = type->find(name.substr(0, name.find('[')));
    if (member == nullptr || member->info->type == nullptr) return {};
    type = member->info->type;
    path.remove_prefix(dot + 1);
  }
  std::vector<std::string> names;
  for (const auto& member : type->members())
    names.push_back(member.name());
  return names;
}

// Completes the decoder's `unknown field "a.b"` with the whole path and a suggestion.
std::string explain(const std::string& problem, std::string_view path, const api::body& into) {
  const auto open = problem.find('"'), close = problem.rfind('"');
  if (open == problem.npos || close == open) return join(path, problem);
  const auto field = std::string_view{problem}.substr(open + 1, close - open - 1);
  auto text = fmt::format("{}: {}", join(path, field), problem.substr(0, open - 1));
  if (!problem.starts_with("unknown")) return text;
  const auto& type = api::type_info::of(*into.GetDescriptor());
  const auto name = field.substr(field.rfind('.') + 1);
  return text + config::suggestion(name, members_beside(field, &type));
}

problems wrong_type(const api::type_names& names, const settings_type& type, std::string_view path,
                    bool required) {
  problems found;
  const auto check = [&](std::string_view field, std::string_view given, std::string_view wanted) {
    if (given == wanted || (given.empty() && !required)) return;
    found.push_back(given.empty()
                        ? fmt::format("{}: must be {}", join(path, field), wanted)
                        : fmt::format("{}: is {}, must be {}", join(path, field), given, wanted));
  };
  check("apiVersion", names.api_version, type.api_version);
  check("kind", names.kind, type.kind);
  return found;
}

problems read(std::string_view json, const settings_type& type, std::string_view path,
              bool type_required, api::body& into) {
  auto found = wrong_type(api::find_type_names(json), type, path, type_required);
  if (!found.empty()) return found;
  const auto unknown =
      api::decode_into(json, api::media::json, into, {.fields = api::field_validation::warn});
  if (!unknown) return {join(path, unknown.error().message)};
  for (const auto& problem : *unknown)
    found.push_back(explain(problem, path, into));
  api::set_schema_defaults(into);
  for (const auto& cause : api::validate_message(into))
    found.push_back(fmt::format("{}: {}", join(path, cause.field), cause.message));
  return found;
}

}  // namespace

problems read_settings(std::string_view text, const settings_type& type, api::body& into) {
  const auto json = api::yaml_to_json(text);
  if (!json) return {json.error().message};
  return read(*json, type, {}, true, into);
}

problems read_settings_part(std::string_view json, const settings_type& type, std::string_view path,
                            api::body& into) {
  return read(json, type, path, false, into);
}

}  // namespace troupe::actors
