#include "api/apply/merging.hpp"

#include <algorithm>

#include "api/codec/json_text.hpp"

namespace troupe::api {
namespace {

using merges = merge_type::merges;
using step_type = field_step::type;

// How the value is merged. A value that does not have the shape of its type is atomic.
merges form_of(const json_value& value, const merge_type& type) {
  const auto is = type.is();
  switch (is) {
    case merges::structure:
    case merges::map:
    case merges::deduced:
      return value.IsObject() ? (is == merges::deduced ? merges::map : is) : merges::atomic;
    case merges::set:
    case merges::keyed_list:
      return value.IsArray() ? is : merges::atomic;
    case merges::atomic:
      break;
  }
  return merges::atomic;
}

bool is_list(merges is) {
  return is == merges::set || is == merges::keyed_list;
}

bool is_hollow(const json_value& value) {
  return value.IsNull() || (value.IsObject() && value.ObjectEmpty()) ||
         (value.IsArray() && value.Empty());
}

// The step to an element of a set or a keyed list.
tl::expected<field_step, std::string> step_of(const json_value& element, const merge_type& list) {
  field_step out{step_type::value, {}};
  if (list.is() == merges::set) {
    append_canonical_json(out.text, element);
    return out;
  }
  out.is = step_type::key;
  out.text = "{";
  std::string names;
  bool any = false;
  for (const auto& key : list.keys()) {
    names += (names.empty() ? "\"" : " \"") + key + "\"";
    std::string value;
    if (const auto* found = find_member(element, key); found != nullptr && !found->IsNull()) {
      append_canonical_json(value, *found);
      any = true;
    } else {
      value = list.key_default(key);
    }
    if (value.empty()) continue;
    if (out.text.size() > 1) out.text += ',';
    append_json_string(out.text, key);
    out.text += ':' + value;
  }
  out.text += '}';
  if (any) return out;
  return tl::make_unexpected(
      "associative list with keys has an element that omits all key fields [" + names +
      "] (and doesn't have default values for any key fields)");
}

// -- fields ---------------------------------------------------------------------------------------

class collector {
 public:
  explicit collector(bool strict) : strict_(strict) {}

  void visit(const json_value& value, const merge_type& type, field_set& into) {
    const auto is = form_of(value, type);
    if (is == merges::atomic || is_hollow(value)) {
      into.member = true;
      return;
    }
    if (is_list(is)) return visit_list(value, type, into);
    for (const auto& each : value.GetObject()) {
      const auto name = text_of(each.name);
      path_.push_back(field_named(name));
      const bool declared = is == merges::structure && type.declares(name);
      if (is == merges::structure && !declared && !type.open())
        wrong("field not declared in schema");
      auto& below = into.below[path_.back()];
      if (is_hollow(each.value))
        below.member = true;
      else
        visit(each.value, type.member(name), below);
      if (is == merges::map) below.member = true;
      path_.pop_back();
    }
  }

  const std::string& problem() const noexcept { return problem_; }

 private:
  void wrong(const std::string& text) {
    if (strict_ && problem_.empty()) problem_ = shown(path_) + ": " + text;
  }

  void visit_list(const json_value& list, const merge_type& type, field_set& into) {
    const auto element = type.element();
    for (rapidjson::SizeType i = 0; i < list.Size(); ++i) {
      auto step = step_of(list[i], type);
      if (!step) {
        path_.push_back({step_type::index, std::to_string(i)});
        wrong(step.error());
        path_.pop_back();
        continue;
      }
      if (into.below.contains(*step)) wrong("duplicate entries for key " + shown({*step}));
      auto& below = into.below[*step];
      path_.push_back(std::move(*step));
      below.member = true;
      visit(list[i], element, below);
      path_.pop_back();
    }
  }

  const bool strict_;
  field_steps path_;
  std::string problem_;
};

// -- comparison -----------------------------------------------------------------------------------

// The elements of a list by step, in order; of duplicates only the first.
struct elements {
  std::vector<field_step> order;
  std::map<field_step, const json_value*> by_step;
};

elements elements_of(const json_value& list, const merge_type& type) {
  elements out;
  if (!list.IsArray()) return out;
  for (const auto& each : list.GetArray()) {
    auto step = step_of(each, type);
    if (step && out.by_step.try_emplace(*step, &each).second) out.order.push_back(std::move(*step));
  }
  return out;
}

class comparer {
 public:
  explicit comparer(comparison& out) : out_(out) {}

  // At least one of `was` and `now` is not null.
  void visit(const json_value* was, const json_value* now, const merge_type& type) {
    const auto a = was == nullptr ? merges::atomic : form_of(*was, type);
    const auto b = now == nullptr ? merges::atomic : form_of(*now, type);
    const bool hollow = (was == nullptr || is_hollow(*was)) && (now == nullptr || is_hollow(*now));
    const auto is = was == nullptr || is_hollow(*was) ? b : a;
    const bool both =
        a == b || was == nullptr || now == nullptr || is_hollow(*was) || is_hollow(*now);
    if (hollow || !both || is == merges::atomic) return leaf(was, now);
    if (is_list(is)) return visit_list(was, now, type);
    visit_members(was, now, type);
  }

 private:
  void leaf(const json_value* was, const json_value* now) {
    if (was == nullptr)
      out_.added.insert(path_);
    else if (now == nullptr)
      out_.removed.insert(path_);
    else if (!same_json(*was, *now))
      out_.modified.insert(path_);
  }

  void below(field_step step, const json_value* was, const json_value* now,
             const merge_type& type) {
    path_.push_back(std::move(step));
    visit(was, now, type);
    if (was == nullptr) out_.added.insert(path_);
    if (now == nullptr) out_.removed.insert(path_);
    path_.pop_back();
  }

  void visit_members(const json_value* was, const json_value* now, const merge_type& type) {
    const member_index before{was}, after{now};
    if (was != nullptr && was->IsObject())
      for (const auto& each : was->GetObject()) {
        const auto name = text_of(each.name);
        below(field_named(name), &each.value, after.find(name), type.member(name));
      }
    if (now == nullptr || !now->IsObject()) return;
    for (const auto& each : now->GetObject()) {
      const auto name = text_of(each.name);
      if (before.find(name) == nullptr)
        below(field_named(name), nullptr, &each.value, type.member(name));
    }
  }

  void visit_list(const json_value* was, const json_value* now, const merge_type& type) {
    const auto element = type.element();
    const auto before = was == nullptr ? elements{} : elements_of(*was, type);
    const auto after = now == nullptr ? elements{} : elements_of(*now, type);
    for (const auto& step : before.order) {
      const auto found = after.by_step.find(step);
      below(step, before.by_step.at(step), found == after.by_step.end() ? nullptr : found->second,
            element);
    }
    for (const auto& step : after.order)
      if (!before.by_step.contains(step)) below(step, nullptr, after.by_step.at(step), element);
  }

  comparison& out_;
  field_steps path_;
};

// -- merge ----------------------------------------------------------------------------------------

json_value merge_lists(const json_value& live, const json_value& config, const merge_type& type,
                       json_allocator& allocator) {
  const auto left = elements_of(live, type);
  const auto right = elements_of(config, type);
  const auto element = type.element();
  json_value out(rapidjson::kArrayType);
  const auto keep = [&](const field_step& step) {
    out.PushBack(json_value(*left.by_step.at(step), allocator), allocator);
  };
  const auto take = [&](const field_step& step) {
    const auto found = left.by_step.find(step);
    if (found == left.by_step.end())
      out.PushBack(json_value(*right.by_step.at(step), allocator), allocator);
    else
      out.PushBack(merge(*found->second, *right.by_step.at(step), element, allocator), allocator);
  };
  // Elements in both lists get the order of `config`; elements in only one keep their place in it.
  std::vector<field_step> shared;
  for (const auto& step : right.order)
    if (left.by_step.contains(step)) shared.push_back(step);
  std::size_t l = 0, r = 0, s = 0;
  const auto is_next = [&](const field_step& step) {
    return s < shared.size() && shared[s] == step;
  };
  while (l < left.order.size() || r < right.order.size()) {
    const bool both = l < left.order.size() && r < right.order.size();
    if (both && left.order[l] == right.order[r]) {
      take(right.order[r++]);
      ++l;
      ++s;
    } else if (l < left.order.size() && !right.by_step.contains(left.order[l])) {
      keep(left.order[l++]);
    } else if (l < left.order.size() && !is_next(left.order[l])) {
      ++l;  // appears at its place in `config`
    } else if (r < right.order.size()) {
      s += is_next(right.order[r]) ? 1 : 0;
      take(right.order[r++]);
    } else {
      ++l;
    }
  }
  return out;
}

json_value merge_objects(const json_value& live, const json_value& config, const merge_type& type,
                         json_allocator& allocator) {
  json_value out(live, allocator);
  json_members members(out);
  for (const auto& each : config.GetObject()) {
    const auto name = text_of(each.name);
    const auto* was = members.find(name);
    members.set(name,
                was == nullptr ? json_value(each.value, allocator)
                               : merge(*was, each.value, type.member(name), allocator),
                allocator);
  }
  members.finish(allocator);
  return out;
}

}  // namespace

tl::expected<field_set, std::string> fields_of(const json_value& value, const merge_type& type) {
  field_set out;
  collector all{true};
  all.visit(value, type, out);
  out.member = false;
  if (!all.problem().empty()) return tl::make_unexpected(all.problem());
  return out;
}

field_set fields_of_stored(const json_value& value, const merge_type& type) {
  field_set out;
  collector{false}.visit(value, type, out);
  out.member = false;
  return out;
}

comparison compare(const json_value& was, const json_value& now, const merge_type& type) {
  comparison out;
  comparer{out}.visit(&was, &now, type);
  return out;
}

json_value merge(const json_value& live, const json_value& config, const merge_type& type,
                 json_allocator& allocator) {
  const auto is = form_of(config, type);
  if (is == merges::atomic || form_of(live, type) != is) return json_value(config, allocator);
  return is_list(is) ? merge_lists(live, config, type, allocator)
                     : merge_objects(live, config, type, allocator);
}

void remove(json_value& value, const field_set& fields, const merge_type& type,
            json_allocator& allocator) {
  const auto is = form_of(value, type);
  if (is == merges::atomic) return;
  // Handles the element at a step; returns false if it is removed.
  const auto stays = [&](const field_step& step, json_value& each, const merge_type& its) {
    const auto found = fields.below.find(step);
    if (found == fields.below.end()) return true;
    if (found->second.member) return false;
    const bool was_hollow = is_hollow(each);
    remove(each, found->second, its, allocator);
    return was_hollow || !is_hollow(each);
  };
  if (is_list(is)) {
    const auto element = type.element();
    json_value out(rapidjson::kArrayType);
    for (auto& each : value.GetArray()) {
      const auto step = step_of(each, type);
      if (!step || stays(*step, each, element)) out.PushBack(each, allocator);
    }
    value = out;
    return;
  }
  json_value out(rapidjson::kObjectType);
  for (auto& each : value.GetObject()) {
    const auto name = text_of(each.name);
    if (stays(field_named(name), each.value, type.member(name)))
      out.AddMember(each.name, each.value, allocator);
  }
  value = out;
}

field_set with_parents(const field_set& all, const merge_type& type) {
  field_set out{.member = all.member};
  const auto is = type.is();
  for (const auto& [step, node] : all.below) {
    const bool field = step.is == step_type::field;
    auto& below = out.below[step];
    below = with_parents(node, field ? type.member(step.text) : type.element());
    if (field && is == merges::structure && type.declares(step.text)) below.member = true;
  }
  return out;
}

}  // namespace troupe::api
