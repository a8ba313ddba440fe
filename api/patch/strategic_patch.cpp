// Strategic merge patches: merge patches that merge some lists by a key from the schema instead of
// replacing them, with directives for other changes:
//
//   $patch: replace | delete | merge        the object or list element that holds it
//   $retainKeys: [names]                    members of the object that stay, all others go
//   $deleteFromPrimitiveList/x: [values]    values to take out of list x
//   $setElementOrder/x: [keys or values]    the order of list x after the merge
#include <algorithm>
#include <map>
#include <set>

#include "api/patch/patch_types.hpp"

namespace troupe::api {
namespace {

constexpr std::string_view directive = "$patch";
constexpr std::string_view retain_keys = "$retainKeys";
constexpr std::string_view delete_prefix = "$deleteFromPrimitiveList/";
constexpr std::string_view order_prefix = "$setElementOrder/";

using result = expected<void>;

tl::unexpected<error> wrong(const std::string& reason) {
  return fail(bad_request("error decoding patch: " + reason));
}

const json_value* member_of(const json_value& object, std::string_view name) {
  for (const auto& member : object.GetObject())
    if (text_of(member.name) == name) return &member.value;
  return nullptr;
}

// The directive of an element or object; empty if it has none.
std::string_view directive_of(const json_value& value) {
  if (!value.IsObject()) return {};
  const auto* found = member_of(value, directive);
  if (!found) return {};
  return found->IsString() ? text_of(*found) : std::string_view("?");
}

// Returns false if the value is itself a directive and has no content.
bool strip_directives(json_value& value, json_allocator& allocator) {
  if (value.IsArray()) {
    auto end = value.Begin();
    for (auto at = value.Begin(); at != value.End(); ++at) {
      if (!strip_directives(*at, allocator)) continue;
      if (end != at) *end = *at;
      ++end;
    }
    if (end != value.End()) value.Erase(end, value.End());
  } else if (value.IsObject()) {
    if (member_of(value, directive)) return false;
    json_members members(value);
    for (auto& member : value.GetObject()) {
      const auto name = text_of(member.name);
      if (name == retain_keys || name.starts_with(delete_prefix) ||
          name.starts_with(order_prefix) || !strip_directives(member.value, allocator))
        members.erase(name);
    }
    members.finish(allocator);
  }
  return true;
}

// How a field's lists and objects are merged.
struct field_rule {
  const type_info* type = nullptr;  // type of the value or of the list's elements; null if unknown
  bool merge_list = false;
  std::string key;
};

field_rule rule_of(const type_info* type, std::string_view name) {
  const auto* found = type ? type->find(name) : nullptr;
  if (!found) return {};
  const auto& rule = *found->info->rule;
  field_rule made;
  made.key = rule.patch_merge_key();
  const auto& strategy = rule.patch_strategy();
  made.merge_list =
      strategy == "merge" || strategy.starts_with("merge,") || strategy.ends_with(",merge");
  // Members of maps are names chosen by users, not fields.
  if (!found->info->field->is_map()) made.type = found->info->type;
  return made;
}

// The identity of an element of a merged list: the value of the merge key, or the value itself.
// Empty if the element has no key.
std::string identity(const json_value& element, const std::string& key) {
  if (key.empty()) return write_json(element);
  const auto* found = element.IsObject() ? member_of(element, key) : nullptr;
  return found ? write_json(*found) : std::string();
}

using positions = std::map<std::string, std::size_t>;

positions positions_of(const json_value& list, const std::string& key) {
  positions made;
  for (rapidjson::SizeType i = 0; i < list.Size(); ++i)
    made.emplace(identity(list[i], key), i);
  return made;
}

std::size_t position(const positions& of, const std::string& id) {
  const auto found = of.find(id);
  return found == of.end() ? static_cast<std::size_t>(-1) : found->second;
}

// Elements in the patch's order get that order, others the server's; if both orders have two
// elements, the server's order decides between them.
void put_in_order(json_value& list, const std::string& key, const positions& by_patch,
                  const positions& by_server, json_allocator& allocator) {
  struct element {
    json_value* value;
    std::size_t in_patch;
    std::size_t in_server;
  };
  std::vector<element> named, others;
  for (auto& value : list.GetArray()) {
    const auto id = identity(value, key);
    const element one{&value, position(by_patch, id), position(by_server, id)};
    (by_patch.contains(id) ? named : others).push_back(one);
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const auto& a, const auto& b) { return a.in_patch < b.in_patch; });
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.in_server < b.in_server; });
  json_value sorted(rapidjson::kArrayType);
  sorted.Reserve(list.Size(), allocator);
  std::size_t i = 0, j = 0;
  constexpr auto unknown = static_cast<std::size_t>(-1);
  while (i < others.size() || j < named.size()) {
    const bool other_first =
        j == named.size() ||
        (i < others.size() && others[i].in_server != unknown && named[j].in_server != unknown &&
         others[i].in_server < named[j].in_server);
    sorted.PushBack(*(other_first ? others[i++] : named[j++]).value, allocator);
  }
  list = sorted;
}

class merger {
 public:
  explicit merger(json_allocator& allocator) : allocator_(allocator) {}

  result merge_object(json_value& original, json_value& patch, const type_info* type);

 private:
  result keep_only(json_value& original, json_value& patch);
  result merge_ordered(json_members& original, json_value& patch, const type_info* type,
                       std::set<std::string>& done);
  result merge_member(json_members& original, std::string_view name, json_value& change,
                      const type_info* type);
  result merge_list(json_value& original, json_value& patch, const field_rule& rule);
  result merge_elements(json_value& original, json_value& patch, const field_rule& rule);
  // Removes the elements with directives from the patch and executes them. Returns true if the rest
  // of the patch is the new list.
  expected<bool> obey_directives(json_value& original, json_value& patch, const field_rule& rule);
  void take_out(json_value& list, const json_value& values);

  json_allocator& allocator_;
};

result merger::keep_only(json_value& original, json_value& patch) {
  const auto* keys = member_of(patch, retain_keys);
  if (!keys) return {};
  if (!keys->IsArray()) return wrong("$retainKeys must be a list of names");
  std::set<std::string_view> retained;
  for (const auto& key : keys->GetArray())
    if (key.IsString()) retained.insert(text_of(key));
  for (const auto& member : patch.GetObject()) {
    const auto name = text_of(member.name);
    if (name == retain_keys || member.value.IsNull() || name.starts_with(delete_prefix) ||
        name.starts_with(order_prefix) || retained.contains(name))
      continue;
    return wrong("$retainKeys does not list " + std::string(name) + ", which the patch sets");
  }
  json_members members(original);
  for (const auto& member : original.GetObject())
    if (!retained.contains(text_of(member.name))) members.erase(text_of(member.name));
  members.finish(allocator_);
  return {};
}

// Whether the elements of the patch are in the order that it requests.
bool follows(const json_value& patch, const positions& order, const std::string& key) {
  std::size_t last = 0;
  for (const auto& element : patch.GetArray()) {
    if (!directive_of(element).empty()) continue;
    const auto found = order.find(identity(element, key));
    if (found == order.end() || found->second < last) return false;
    last = found->second;
  }
  return true;
}

result merger::merge_ordered(json_members& original, json_value& patch, const type_info* type,
                             std::set<std::string>& done) {
  json_members changes(patch);
  for (auto& member : patch.GetObject()) {
    if (!text_of(member.name).starts_with(order_prefix)) continue;
    const std::string name(text_of(member.name).substr(order_prefix.size()));
    if (!member.value.IsArray()) return wrong("$setElementOrder/" + name + " must be a list");
    auto* list = original.find(name);
    auto* change = changes.find(name);
    if ((list && !list->IsArray()) || (change && !change->IsArray()))
      return wrong("$setElementOrder/" + name + " refers to a value that is not a list");
    const auto rule = rule_of(type, name);
    const auto order = positions_of(member.value, rule.key);
    if (change && !follows(*change, order, rule.key))
      return wrong("the order in the patch list of " + name + " does not match $setElementOrder");
    if (!list && !change) continue;
    if (!list) {
      strip_nulls(*change);
      strip_directives(*change, allocator_);
      json_value fresh(*change, allocator_);
      put_in_order(fresh, rule.key, order, {}, allocator_);
      original.set(name, std::move(fresh), allocator_);
    } else {
      const auto before = positions_of(*list, rule.key);
      if (change)
        if (auto merged = merge_list(*list, *change, rule); !merged) return merged;
      put_in_order(*list, rule.key, order, before, allocator_);
    }
    done.insert(name);
  }
  return {};
}

result merger::merge_object(json_value& original, json_value& patch, const type_info* type) {
  const auto action = directive_of(patch);
  if (action == "delete") {
    original.SetObject();
    return {};
  }
  if (action == "replace") {
    patch.EraseMember("$patch");
    strip_directives(patch, allocator_);
    original = patch;
    return {};
  }
  if (!action.empty() && action != "merge")
    return wrong("unknown $patch directive " + std::string(action));
  if (auto done = keep_only(original, patch); !done) return done;
  json_members members(original);
  std::set<std::string> done;
  if (auto ordered = merge_ordered(members, patch, type, done); !ordered) return ordered;
  for (auto& change : patch.GetObject()) {
    auto name = text_of(change.name);
    if (name == directive || name == retain_keys || name.starts_with(order_prefix)) continue;
    if (name.starts_with(delete_prefix)) {
      name.remove_prefix(delete_prefix.size());
      if (!change.value.IsArray()) return wrong(std::string(delete_prefix) + " needs a list");
      auto* list = members.find(name);
      if (list && list->IsArray()) take_out(*list, change.value);
    } else if (!done.contains(std::string(name))) {
      if (auto merged = merge_member(members, name, change.value, type); !merged) return merged;
    }
  }
  members.finish(allocator_);
  return {};
}

result merger::merge_member(json_members& original, std::string_view name, json_value& change,
                            const type_info* type) {
  if (change.IsNull()) {
    original.erase(name);
    return {};
  }
  auto* old = original.find(name);
  const auto rule = rule_of(type, name);
  if (old && old->IsObject() && change.IsObject()) return merge_object(*old, change, rule.type);
  if (old && old->IsArray() && change.IsArray()) return merge_list(*old, change, rule);
  strip_nulls(change);
  if (strip_directives(change, allocator_))
    original.set(name, std::move(change), allocator_);
  else
    original.erase(name);
  return {};
}

void merger::take_out(json_value& list, const json_value& values) {
  std::set<std::string> gone;
  for (const auto& value : values.GetArray())
    gone.insert(write_json(value));
  json_value remaining(rapidjson::kArrayType);
  for (auto& value : list.GetArray())
    if (!gone.contains(write_json(value))) remaining.PushBack(value, allocator_);
  list = remaining;
}

expected<bool> merger::obey_directives(json_value& original, json_value& patch,
                                       const field_rule& rule) {
  std::set<std::string> deleted;
  bool replaced = false;
  json_value plain(rapidjson::kArrayType);
  for (auto& element : patch.GetArray()) {
    if (!element.IsObject()) return wrong("elements of a list that is merged by key are objects");
    const auto action = directive_of(element);
    if (action.empty()) {
      plain.PushBack(element, allocator_);
    } else if (action == "replace") {
      replaced = true;
    } else if (action == "delete") {
      auto id = identity(element, rule.key);
      if (id.empty()) return wrong("an element to delete needs its merge key " + rule.key);
      deleted.insert(std::move(id));
    } else {
      return wrong("unknown $patch directive " + std::string(action) + " in a list");
    }
  }
  patch = plain;
  if (replaced) return true;
  json_value remaining(rapidjson::kArrayType);
  for (auto& element : original.GetArray())
    if (!deleted.contains(identity(element, rule.key))) remaining.PushBack(element, allocator_);
  original = remaining;
  return false;
}

result merger::merge_elements(json_value& original, json_value& patch, const field_rule& rule) {
  auto known = positions_of(original, rule.key);
  for (auto& element : patch.GetArray()) {
    const auto id = identity(element, rule.key);
    if (id.empty()) {
      if (rule.key.empty()) continue;
      return wrong("an element of a list that is merged by key lacks its merge key " + rule.key);
    }
    if (const auto found = known.find(id); found != known.end()) {
      if (rule.key.empty()) continue;
      auto& old = original[static_cast<rapidjson::SizeType>(found->second)];
      if (auto merged = merge_object(old, element, rule.type); !merged) return merged;
      continue;
    }
    strip_nulls(element);
    strip_directives(element, allocator_);
    known.emplace(id, original.Size());
    original.PushBack(json_value(element, allocator_), allocator_);
  }
  return {};
}

result merger::merge_list(json_value& original, json_value& patch, const field_rule& rule) {
  bool replaced = !rule.merge_list;
  if (rule.merge_list && !rule.key.empty()) {
    auto obeyed = obey_directives(original, patch, rule);
    if (!obeyed) return fail(std::move(obeyed.error()));
    replaced = *obeyed;
  }
  if (replaced) {
    strip_nulls(patch);
    strip_directives(patch, allocator_);
    original = patch;
    return {};
  }
  const auto by_patch = positions_of(patch, rule.key);
  const auto by_server = positions_of(original, rule.key);
  if (auto merged = merge_elements(original, patch, rule); !merged) return merged;
  put_in_order(original, rule.key, by_patch, by_server, allocator_);
  return {};
}

}  // namespace

result apply_strategic_patch(const type_info& type, json_value& document, json_value& patch,
                             json_allocator& allocator) {
  if (!document.IsObject()) document.SetObject();
  return merger(allocator).merge_object(document, patch, &type);
}

}  // namespace troupe::api
