#include "api/apply/field_set.hpp"

#include <algorithm>

#include "api/codec/json_dom.hpp"
#include "api/codec/json_text.hpp"
#include "api/values/utf8.hpp"

namespace troupe::api {
namespace {

using step_type = field_step::type;

constexpr std::string_view own_key = ".";

char prefix_of(step_type type) {
  switch (type) {
    case step_type::field:
      return 'f';
    case step_type::key:
      return 'k';
    case step_type::value:
      return 'v';
    case step_type::index:
      return 'i';
  }
  return 'f';
}

// Formats {"name":"c","port":80} as [name="c",port=80].
std::string shown_keys(const std::string& json) {
  json_document keys;
  if (!parse_json(keys, json, "a key") || !keys.IsObject()) return json;
  std::string out;
  for (const auto& each : keys.GetObject()) {
    out += out.empty() ? '[' : ',';
    out += text_of(each.name);
    out += '=';
    append_canonical_json(out, each.value);
  }
  return out + ']';
}

tl::unexpected<std::string> wrong(std::string reason) {
  return tl::make_unexpected(std::move(reason));
}

tl::expected<field_step, std::string> read_step(std::string_view key) {
  if (key.size() < 2 || key[1] != ':') return wrong("missing colon in " + quoted(key));
  const auto rest = key.substr(2);
  const auto canonical = [&rest]() -> tl::expected<std::string, std::string> {
    json_document value;
    if (!parse_json(value, rest, "a path")) return wrong("malformed path element " + quoted(rest));
    std::string out;
    append_canonical_json(out, value);
    return out;
  };
  for (const auto type : {step_type::field, step_type::key, step_type::value, step_type::index}) {
    if (key.front() != prefix_of(type)) continue;
    if (type == step_type::field || type == step_type::index) {
      field_step named{type, {}};
      append_utf8(named.text, rest);
      return named;
    }
    auto text = canonical();
    if (!text) return wrong(std::move(text.error()));
    return field_step{type, std::move(*text)};
  }
  return wrong("unknown path element " + quoted(key));
}

tl::expected<field_set, std::string> read_node(const json_value& from, bool root) {
  if (!from.IsObject()) return wrong("a node is not an object");
  field_set out;
  if (from.ObjectEmpty()) out.member = !root;
  for (const auto& each : from.GetObject()) {
    if (text_of(each.name) == own_key) {
      out.member = !root;
      continue;
    }
    auto step = read_step(text_of(each.name));
    if (!step) return wrong(std::move(step.error()));
    auto below = read_node(each.value, false);
    if (!below) return below;
    out.below[std::move(*step)] = std::move(*below);
  }
  return out;
}

void append_node(std::string& out, const field_set& node) {
  out += '{';
  bool first = true;
  if (node.member && !node.below.empty()) {
    out += "\".\":{}";
    first = false;
  }
  for (const auto& [step, below] : node.below) {
    if (!first) out += ',';
    first = false;
    append_json_string(out, std::string{prefix_of(step.is), ':'} + step.text);
    out += ':';
    append_node(out, below);
  }
  out += '}';
}

void visit_node(const field_set& node, field_steps& path,
                const std::function<void(const field_steps&)>& visit) {
  if (node.member) visit(path);
  for (const auto& [step, below] : node.below) {
    path.push_back(step);
    visit_node(below, path, visit);
    path.pop_back();
  }
}

}  // namespace

std::string shown(const field_steps& path) {
  std::string out;
  for (const auto& step : path) {
    switch (step.is) {
      case step_type::field:
        out += '.' + step.text;
        break;
      case step_type::key:
        out += shown_keys(step.text);
        break;
      case step_type::value:
        out += "[=" + step.text + "]";
        break;
      case step_type::index:
        out += '[' + step.text + ']';
    }
  }
  return out;
}

void field_set::insert(const field_steps& path) {
  auto* at = this;
  for (const auto& step : path)
    at = &at->below[step];
  at->member = true;
}

void field_set::erase(const field_steps& path) {
  if (path.empty()) return;
  const auto found = below.find(path.front());
  if (found == below.end()) return;
  if (path.size() > 1) found->second.erase({path.begin() + 1, path.end()});
  if (path.size() == 1 || found->second.empty()) below.erase(found);
}

field_set unite(field_set a, const field_set& b) {
  a.member = a.member || b.member;
  for (const auto& [step, node] : b.below) {
    auto& at = a.below[step];
    at = unite(std::move(at), node);
  }
  return a;
}

field_set subtract(const field_set& a, const field_set& b) {
  field_set out{.member = a.member && !b.member};
  for (const auto& [step, node] : a.below) {
    const auto found = b.below.find(step);
    auto rest = found == b.below.end() ? node : subtract(node, found->second);
    if (!rest.empty()) out.below.emplace(step, std::move(rest));
  }
  return out;
}

field_set intersect(const field_set& a, const field_set& b) {
  field_set out{.member = a.member && b.member};
  for (const auto& [step, node] : a.below) {
    const auto found = b.below.find(step);
    if (found == b.below.end()) continue;
    auto both = intersect(node, found->second);
    if (!both.empty()) out.below.emplace(step, std::move(both));
  }
  return out;
}

void for_each(const field_set& all, const std::function<void(const field_steps&)>& visit) {
  field_steps path;
  visit_node(all, path, visit);
}

tl::expected<field_set, std::string> read_fields(std::string_view json) {
  json_document text;
  if (auto read = parse_json(text, json, "fieldsV1"); !read) return wrong(read.error().message);
  return read_node(text, true);
}

std::string write_fields(const field_set& all) {
  std::string out;
  append_node(out, all);
  return out;
}

}  // namespace troupe::api
