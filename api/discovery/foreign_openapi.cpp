#include "api/discovery/foreign_openapi.hpp"

#include <utility>

#include "api/codec/json_dom.hpp"
#include "api/discovery/limits.hpp"

namespace troupe::api {
namespace {

constexpr std::string_view definition_prefix = "#/definitions/";

// Collects the definitions that a value refers to; the parser bounds its depth (json_dom.hpp).
void collect_references(const json_value& in, std::vector<std::string>& into) {
  if (in.IsArray())
    for (const auto& each : in.GetArray())
      collect_references(each, into);
  if (!in.IsObject()) return;
  for (const auto& each : in.GetObject()) {
    if (text_of(each.name) == "$ref" && each.value.IsString()) {
      const auto to = text_of(each.value);
      if (to.starts_with(definition_prefix)) into.emplace_back(to.substr(definition_prefix.size()));
    } else {
      collect_references(each.value, into);
    }
  }
}

void replace_all(std::string& in, const std::string& from, const std::string& to) {
  for (auto at = in.find(from); at != in.npos; at = in.find(from, at + to.size()))
    in.replace(at, from.size(), to);
}

std::string quoted_reference(std::string_view name) {
  return "\"" + std::string{definition_prefix}.append(name) + "\"";
}

using names = std::map<std::string, std::string>;

std::string with_new_names(std::string text, const names& renamed) {
  for (const auto& [from, to] : renamed)
    replace_all(text, quoted_reference(from), quoted_reference(to));
  return text;
}

std::string free_name(const std::string& name, const foreign_openapi& a, const foreign_openapi& b) {
  for (int i = 2;; ++i) {
    auto other = name + "_v" + std::to_string(i);
    if (!a.definitions.contains(other) && !b.definitions.contains(other)) return other;
  }
}

}  // namespace

std::size_t foreign_openapi::bytes() const {
  std::size_t sum = 0;
  for (const auto* part : {&paths, &definitions})
    for (const auto& [name, text] : *part)
      sum += name.size() + text.size();
  return sum;
}

expected<foreign_openapi> read_openapi_v2(std::string_view text, const std::string& group,
                                          const std::string& version) {
  json_document document;
  if (auto read = parse_json(document, text, "the OpenAPI document"); !read)
    return fail(std::move(read.error()));
  const auto* paths = find_member(document, "paths");
  const auto* definitions = find_member(document, "definitions");
  if (paths == nullptr || !paths->IsObject())
    return fail(bad_request("it is no OpenAPI v2 document"));
  foreign_openapi out;
  std::vector<std::string> to_add;
  const auto prefix = "/apis/" + group + "/" + version + "/";
  for (const auto& each : paths->GetObject()) {
    // The path of the resource list equals the prefix and is kept too.
    if (!text_of(each.name).starts_with(prefix)) continue;
    out.paths.emplace(text_of(each.name), write_json(each.value));
    collect_references(each.value, to_add);
  }
  std::map<std::string_view, const json_value*> defined;
  if (definitions != nullptr && definitions->IsObject())
    for (const auto& each : definitions->GetObject())
      defined.emplace(text_of(each.name), &each.value);
  while (!to_add.empty()) {
    const auto name = std::move(to_add.back());
    to_add.pop_back();
    const auto found = defined.find(name);
    if (found == defined.end()) continue;
    if (out.definitions.emplace(name, write_json(*found->second)).second)
      collect_references(*found->second, to_add);
  }
  if (out.bytes() > limits::foreign_openapi_bytes)
    return fail(bad_request("its part about " + group + "/" + version + " is more than " +
                            std::to_string(limits::foreign_openapi_bytes) + " bytes"));
  return out;
}

foreign_openapi merge_openapi(const foreign_openapis& all, const foreign_openapi& own) {
  foreign_openapi out;
  for (const auto& each : all) {
    if (each == nullptr) continue;
    names renamed;
    for (const auto& [name, text] : each->definitions) {
      const auto found = out.definitions.find(name);
      if (!own.definitions.contains(name) && found != out.definitions.end() &&
          found->second != text)
        renamed.emplace(name, free_name(name, out, own));
    }
    for (const auto& [name, text] : each->definitions) {
      if (own.definitions.contains(name)) continue;
      const auto other = renamed.find(name);
      out.definitions.emplace(other == renamed.end() ? name : other->second,
                              with_new_names(text, renamed));
    }
    for (const auto& [path, text] : each->paths)
      if (!own.paths.contains(path)) out.paths.emplace(path, with_new_names(text, renamed));
  }
  return out;
}

}  // namespace troupe::api
