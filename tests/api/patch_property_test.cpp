// Patches between random objects: applied to the first object they must give the second, in each of
// the three forms.
#include <google/protobuf/message.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "api/codec/codec.hpp"
#include "api/codec/json_dom.hpp"
#include "api/equality.hpp"
#include "api/patch/patch.hpp"
#include "api/scheme.hpp"
#include "api/type_info.hpp"
#include "support/random_message.hpp"

namespace troupe::api {
namespace {

constexpr int seeds_per_kind = 12;

const json_value* find(const json_value& object, std::string_view name) {
  for (const auto& member : object.GetObject())
    if (text_of(member.name) == name) return &member.value;
  return nullptr;
}

// -- JSON patches ---------------------------------------------------------------------------------

std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name)
    out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

class json_difference {
 public:
  std::string between(const json_value& a, const json_value& b) {
    out_.SetArray();
    look("", a, b);
    return write_json(out_);
  }

 private:
  void say(std::string_view op, const std::string& path, const json_value* value = nullptr) {
    json_value step(rapidjson::kObjectType);
    step.AddMember("op", make_text(op, memory_), memory_);
    step.AddMember("path", make_text(path, memory_), memory_);
    if (value) step.AddMember("value", json_value(*value, memory_), memory_);
    out_.PushBack(step, memory_);
  }

  void look(const std::string& path, const json_value& a, const json_value& b) {
    if (same_json(a, b)) return;
    if (a.IsObject() && b.IsObject()) return objects(path, a, b);
    if (a.IsArray() && b.IsArray()) return arrays(path, a, b);
    say("replace", path, &b);
  }

  void objects(const std::string& path, const json_value& a, const json_value& b) {
    for (const auto& member : a.GetObject()) {
      const auto below = path + "/" + escaped(text_of(member.name));
      const auto* there = find(b, text_of(member.name));
      if (there)
        look(below, member.value, *there);
      else
        say("remove", below);
    }
    for (const auto& member : b.GetObject())
      if (!find(a, text_of(member.name)))
        say("add", path + "/" + escaped(text_of(member.name)), &member.value);
  }

  void arrays(const std::string& path, const json_value& a, const json_value& b) {
    for (auto i = a.Size(); i > b.Size(); --i)
      say("remove", path + "/" + std::to_string(i - 1));
    for (rapidjson::SizeType i = 0; i < b.Size(); ++i) {
      if (i < a.Size())
        look(path + "/" + std::to_string(i), a[i], b[i]);
      else
        say("add", path + "/-", &b[i]);
    }
  }

  json_document memory_holder_;
  json_allocator& memory_ = memory_holder_.GetAllocator();
  json_value out_;
};

// -- strategic and merge patches ------------------------------------------------------------------

class merge_difference {
 public:
  // A strategic patch; without a type a merge patch.
  std::string between(const json_value& a, const json_value& b, const type_info* type) {
    return write_json(objects(a, b, type));
  }

 private:
  json_value copy(const json_value& value) { return json_value(value, memory_); }
  void set(json_value& into, const std::string& name, json_value value) {
    into.AddMember(make_text(name, memory_), value, memory_);
  }

  json_value objects(const json_value& a, const json_value& b, const type_info* type) {
    json_value out(rapidjson::kObjectType);
    for (const auto& member : a.GetObject())
      if (!find(b, text_of(member.name))) set(out, std::string(text_of(member.name)), json_value());
    for (const auto& member : b.GetObject()) {
      const std::string name(text_of(member.name));
      const auto* before = find(a, name);
      if (before && same_json(*before, member.value)) continue;
      const auto* known = type ? type->find(name) : nullptr;
      const auto* below = known && !known->info->field->is_map() ? known->info->type : nullptr;
      if (before && before->IsObject() && member.value.IsObject())
        set(out, name, objects(*before, member.value, below));
      else if (before && before->IsArray() && known &&
               known->info->rule->patch_strategy().starts_with("merge"))
        lists(out, name, *before, member.value, *known->info);
      else
        set(out, name, copy(member.value));
    }
    return out;
  }

  // The merge keys of the elements; empty if one is missing or duplicate.
  std::vector<std::string> keys(const json_value& list, const std::string& key) {
    std::vector<std::string> out;
    for (const auto& each : list.GetArray()) {
      const auto* found = key.empty() ? &each : each.IsObject() ? find(each, key) : nullptr;
      if (!found) return {};
      out.push_back(write_json(*found));
    }
    if (std::set<std::string>(out.begin(), out.end()).size() != out.size()) return {};
    return out;
  }

  void lists(json_value& out, const std::string& name, const json_value& a, const json_value& b,
             const field_info& info) {
    const auto& key = info.rule->patch_merge_key();
    const auto in_a = keys(a, key), in_b = keys(b, key);
    if (in_a.size() != a.Size() || in_b.size() != b.Size()) {
      json_value list(rapidjson::kArrayType);
      json_value order(rapidjson::kObjectType);
      order.AddMember("$patch", "replace", memory_);
      list.PushBack(order, memory_);
      for (const auto& each : b.GetArray())
        list.PushBack(copy(each), memory_);
      return set(out, name, std::move(list));
    }
    json_value changes(rapidjson::kArrayType), gone(rapidjson::kArrayType),
        order(rapidjson::kArrayType);
    for (std::size_t i = 0; i < in_a.size(); ++i)
      if (std::find(in_b.begin(), in_b.end(), in_a[i]) == in_b.end())
        drop(changes, gone, a[static_cast<rapidjson::SizeType>(i)], key);
    for (std::size_t i = 0; i < in_b.size(); ++i) {
      const auto& now = b[static_cast<rapidjson::SizeType>(i)];
      const auto found = std::find(in_a.begin(), in_a.end(), in_b[i]);
      order.PushBack(named(now, key), memory_);
      if (found == in_a.end())
        changes.PushBack(copy(now), memory_);
      else if (const auto& was = a[static_cast<rapidjson::SizeType>(found - in_a.begin())];
               !key.empty() && !same_json(was, now))
        changes.PushBack(changed(was, now, key, info.type), memory_);
    }
    set(out, "$setElementOrder/" + name, std::move(order));
    if (!gone.Empty()) set(out, "$deleteFromPrimitiveList/" + name, std::move(gone));
    if (!changes.Empty()) set(out, name, std::move(changes));
  }

  void drop(json_value& changes, json_value& gone, const json_value& element,
            const std::string& key) {
    if (key.empty()) {
      gone.PushBack(copy(element), memory_);
      return;
    }
    auto deleted = named(element, key);
    deleted.AddMember("$patch", "delete", memory_);
    changes.PushBack(deleted, memory_);
  }

  json_value named(const json_value& element, const std::string& key) {
    if (key.empty()) return copy(element);
    json_value out(rapidjson::kObjectType);
    set(out, key, copy(*find(element, key)));
    return out;
  }

  json_value changed(const json_value& was, const json_value& now, const std::string& key,
                     const type_info* type) {
    auto out = objects(was, now, type);
    set(out, key, copy(*find(now, key)));
    return out;
  }

  json_document memory_holder_;
  json_allocator& memory_ = memory_holder_.GetAllocator();
};

// -------------------------------------------------------------------------------------------------

struct pair_of_objects {
  const kind_info& kind;
  std::unique_ptr<body> a, b;
};

// Pairs that have nothing in common, and pairs where one includes the other.
template <class Check>
void each_pair(const Check& check) {
  random_options some;
  some.presence = 0.3;
  for (const kind_info* kind : scheme::instance().all())
    for (std::uint64_t seed = 0; seed < seeds_per_kind; ++seed) {
      INFO(kind->qualified_kind() << " seed " << seed);
      pair_of_objects made{*kind, random_object(*kind, seed, some),
                           random_object(*kind, seed + 1000, some)};
      if (seed % 3 == 1) made.b->MergeFrom(*made.a);
      if (seed % 3 == 2) {
        auto both = std::unique_ptr<body>(made.a->New());
        both->CopyFrom(*made.a);
        both->MergeFrom(*made.b);
        made.a = std::move(both);
      }
      check(made);
    }
}

template <class Difference>
void check_form(patch_form form, const Difference& difference) {
  each_pair([&](const pair_of_objects& pair) {
    const auto from = encode_json(*pair.a, pair.kind.api_version(), pair.kind.kind());
    const auto to = encode_json(*pair.b, pair.kind.api_version(), pair.kind.kind());
    json_document a, b;
    REQUIRE(parse_json(a, from, "a"));
    REQUIRE(parse_json(b, to, "b"));
    const std::string patch = difference(a, b, pair.kind);
    const auto made = apply_patch(form, pair.kind.type(), from, patch);
    INFO(patch);
    if (!made) FAIL(made.error().message);
    const auto read = decode(*made, media::json, &pair.kind);
    if (!read) FAIL(read.error().message);
    REQUIRE(same_meaning(*pair.b, *read->content));
  });
}

}  // namespace

TEST_CASE("the JSON patch between two objects makes one of the other") {
  check_form(patch_form::json, [](const json_value& a, const json_value& b, const kind_info&) {
    return json_difference().between(a, b);
  });
}

TEST_CASE("the merge patch between any two objects makes one of the other") {
  check_form(patch_form::merge, [](const json_value& a, const json_value& b, const kind_info&) {
    return merge_difference().between(a, b, nullptr);
  });
}

TEST_CASE("the strategic patch between two objects makes one of the other") {
  check_form(patch_form::strategic,
             [](const json_value& a, const json_value& b, const kind_info& kind) {
               return merge_difference().between(a, b, &type_info::of(kind.type()));
             });
}

}  // namespace troupe::api
