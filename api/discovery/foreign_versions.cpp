#include "api/discovery/foreign_versions.hpp"

#include <algorithm>
#include <utility>

#include "api/codec/json_dom.hpp"
#include "api/limits.hpp"

namespace troupe::api {
namespace {

std::vector<std::string> texts_at(const json_value& of, std::string_view name) {
  std::vector<std::string> out;
  const auto* found = find_member(of, name);
  if (found == nullptr || !found->IsArray()) return out;
  for (const auto& each : found->GetArray())
    if (each.IsString()) out.emplace_back(text_of(each));
  return out;
}

std::string or_else(std::string text, const std::string& other) {
  return text.empty() ? other : text;
}

foreign_resource read_resource(const json_value& from, std::string name, const std::string& group,
                               const std::string& version) {
  const auto* namespaced = find_member(from, "namespaced");
  return {.name = std::move(name),
          .singular = text_at(from, "singularName"),
          .group = or_else(text_at(from, "group"), group),
          .version = or_else(text_at(from, "version"), version),
          .kind = text_at(from, "kind"),
          .namespaced = namespaced != nullptr && namespaced->IsTrue(),
          .verbs = texts_at(from, "verbs"),
          .short_names = texts_at(from, "shortNames"),
          .categories = texts_at(from, "categories")};
}

// The resource of a subresource may come after it, or be missing.
foreign_resource& resource_named(std::vector<foreign_resource>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
  return found == all.end() ? all.emplace_back(foreign_resource{.name = name}) : *found;
}

}  // namespace

expected<std::vector<foreign_resource>> read_resource_list(std::string_view text,
                                                           const std::string& group,
                                                           const std::string& version) {
  json_document document;
  if (auto read = parse_json(document, text, "the list of resources"); !read)
    return fail(std::move(read.error()));
  const auto* list = find_member(document, "resources");
  if (list == nullptr || !list->IsArray() || text_at(document, "kind") != "APIResourceList")
    return fail(bad_request("it is not an APIResourceList"));
  if (text_at(document, "groupVersion") != group + "/" + version)
    return fail(bad_request("it is a list of another group or version"));
  if (list->Size() > limits::foreign_resources)
    return fail(bad_request("it lists more than " + std::to_string(limits::foreign_resources) +
                            " resources"));
  std::vector<foreign_resource> out;
  for (const auto& each : list->GetArray()) {
    auto name = text_at(each, "name");
    if (name.empty()) return fail(bad_request("it lists a resource without a name"));
    const auto slash = name.find('/');
    auto read = read_resource(each, name.substr(0, slash), group, version);
    auto& resource = resource_named(out, read.name);
    if (slash != name.npos) {
      if (resource.kind.empty()) resource.namespaced = read.namespaced;
      resource.parts.push_back({name.substr(slash + 1), std::move(read.group),
                                std::move(read.version), std::move(read.kind),
                                std::move(read.verbs)});
      continue;
    }
    read.parts = std::move(resource.parts);
    resource = std::move(read);
  }
  return out;
}

}  // namespace troupe::api
