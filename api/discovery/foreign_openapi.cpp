#include "api/discovery/foreign_openapi.hpp"

#include <algorithm>
#include <utility>

#include "api/codec/json_dom.hpp"
#include "api/discovery/limits.hpp"
#include "api/values/utf8.hpp"

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

using names = std::map<std::string, std::string, std::less<>>;

// Renames references in one pass over the text.
std::string with_new_names(std::string_view text, const names& renamed) {
  constexpr std::string_view start = "\"#/definitions/";
  std::string out;
  std::size_t from = 0;
  for (auto at = renamed.empty() ? text.npos : text.find(start); at != text.npos;
       at = text.find(start, from)) {
    const auto begin = at + start.size(), end = std::min(text.find('"', begin), text.size());
    out += text.substr(from, begin - from);
    const auto name = text.substr(begin, end - begin);
    const auto found = renamed.find(name);
    out += found == renamed.end() ? name : std::string_view{found->second};
    from = end;
  }
  out += text.substr(from);
  return out;
}

// The name under which a definition is merged that another one of its name differs from: that of an
// equal one which was renamed before, or a free one.
std::string other_name(const std::string& name, const std::string& text, const foreign_openapi& all,
                       const foreign_openapi& own, const foreign_openapi& its) {
  for (int i = 2;; ++i) {
    auto other = name + "_v" + std::to_string(i);
    const auto found = all.definitions.find(other);
    if (found != all.definitions.end() && found->second == text) return other;
    if (found == all.definitions.end() && !own.definitions.contains(other) &&
        !its.definitions.contains(other))
      return other;
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
  // Clients refuse a whole document for one string that is not UTF-8.
  if (!is_utf8(text)) return fail(bad_request("it is not UTF-8"));
  json_document document;
  if (auto read = parse_json(document, text, "the OpenAPI document"); !read)
    return fail(std::move(read.error()));
  const auto* paths = find_member(document, "paths");
  const auto* definitions = find_member(document, "definitions");
  if (paths == nullptr || !paths->IsObject())
    return fail(bad_request("it is not an OpenAPI v2 document"));
  foreign_openapi out;
  std::vector<std::string> to_add;
  std::size_t bytes = 0;
  const auto too_large = [&] { return bytes > limits::foreign_openapi_bytes; };
  const auto add = [&](auto& to, std::string name, const json_value& value) {
    auto text = write_json(value);
    bytes += name.size() + text.size();
    collect_references(value, to_add);
    to.emplace(std::move(name), std::move(text));
  };
  const auto prefix = "/apis/" + group + "/" + version + "/";
  for (const auto& each : paths->GetObject()) {
    if (too_large()) break;
    // The path of the resource list equals the prefix and is kept too.
    if (each.value.IsObject() && text_of(each.name).starts_with(prefix))
      add(out.paths, std::string{text_of(each.name)}, each.value);
  }
  std::map<std::string_view, const json_value*> defined;
  if (definitions != nullptr && definitions->IsObject())
    for (const auto& each : definitions->GetObject())
      if (each.value.IsObject()) defined.emplace(text_of(each.name), &each.value);
  while (!to_add.empty() && !too_large()) {
    auto name = std::move(to_add.back());
    to_add.pop_back();
    const auto found = defined.find(name);
    if (found != defined.end() && !out.definitions.contains(name))
      add(out.definitions, std::move(name), *found->second);
  }
  if (too_large())
    return fail(bad_request("its part about " + group + "/" + version + " is more than " +
                            std::to_string(limits::foreign_openapi_bytes) + " bytes"));
  // Escapes can make text that is not UTF-8 either.
  for (const auto* part : {&out.paths, &out.definitions})
    for (const auto& [name, kept] : *part)
      if (!is_utf8(name) || !is_utf8(kept)) return fail(bad_request("it is not UTF-8"));
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
        renamed.emplace(name, other_name(name, text, out, own, *each));
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
