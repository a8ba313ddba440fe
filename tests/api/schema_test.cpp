// Consistency of the schema's options. A rule for a field that does not exist, or for a type that
// it does not apply to, would silently have no effect.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "api/schema_walk.hpp"

namespace troupe::api::testing {
namespace {

using type = FieldDescriptor::CppType;

bool is_integer(const FieldDescriptor& field) {
  return field.cpp_type() == type::CPPTYPE_INT32 || field.cpp_type() == type::CPPTYPE_INT64;
}

bool is_text(const FieldDescriptor& field) {
  if (field.is_map())
    return field.message_type()->map_key()->type() == FieldDescriptor::TYPE_STRING;
  return field.type() == FieldDescriptor::TYPE_STRING;
}

// Calls check(field, rule) for all fields of all messages that clients can meet.
template <class Check>
void each_field(const Check& check) {
  for (const auto* message : reachable())
    for (int i = 0; i < message->field_count(); ++i) {
      INFO(message->field(i)->full_name());
      check(*message->field(i), rule_of(*message->field(i)));
    }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), ::tolower);
  return text;
}

}  // namespace

TEST_CASE("every message and every field has a description") {
  REQUIRE(reachable().size() > 250);
  for (const auto* message : reachable()) {
    INFO(message->full_name());
    CHECK_FALSE(message->options().GetExtension(about).empty());
  }
  each_field([](const FieldDescriptor& field, const Rule& rule) {
    const std::string& doc = rule.doc();
    if (rule.inline_()) return;  // has no JSON field of its own
    REQUIRE_FALSE(doc.empty());
    CHECK((doc.back() == '.' || doc.ends_with(".\"")));
    CHECK(field.json_name().find('_') == std::string::npos);
  });
}

TEST_CASE("keys of lists name fields of the list's elements") {
  each_field([](const FieldDescriptor& field, const Rule& rule) {
    const auto* element = below(field);
    CHECK(rule.list_map_keys().empty() == (rule.list_type() != MAP));
    if (rule.list_type() == MAP) REQUIRE((field.is_repeated() && element != nullptr));
    for (const auto& key : rule.list_map_keys()) {
      INFO(key);
      const auto* found = find_json(*element, key);
      REQUIRE(found != nullptr);
      CHECK(found->cpp_type() != type::CPPTYPE_MESSAGE);
    }
    if (rule.has_patch_merge_key()) {
      REQUIRE((field.is_repeated() && element != nullptr));
      CHECK(find_json(*element, rule.patch_merge_key()) != nullptr);
    }
    if (rule.list_type() == SET) CHECK((field.is_repeated() && element == nullptr));
    if (rule.has_list_type()) CHECK(field.is_repeated());
  });
}

TEST_CASE("patch strategies are known and fit the field") {
  const std::set<std::string> known = {"merge", "replace", "retainKeys", "merge,retainKeys"};
  each_field([&](const FieldDescriptor& field, const Rule& rule) {
    if (!rule.has_patch_strategy()) return;
    CHECK(known.count(rule.patch_strategy()) == 1);
    if (rule.patch_strategy().starts_with("merge")) CHECK((field.is_repeated() && !field.is_map()));
  });
}

TEST_CASE("rules about values stand on fields that have such values") {
  each_field([](const FieldDescriptor& field, const Rule& rule) {
    if (rule.syntax() != FREE) CHECK(is_text(field));
    if (rule.allowed_size() > 0) CHECK(field.type() == FieldDescriptor::TYPE_STRING);
    if (rule.has_minimum() || rule.has_maximum()) CHECK(is_integer(field));
    if (rule.has_minimum() && rule.has_maximum()) CHECK(rule.minimum() <= rule.maximum());
    if (rule.presence()) {
      CHECK_FALSE(field.is_repeated());
      CHECK(field.cpp_type() != type::CPPTYPE_MESSAGE);
    }
    if (rule.inline_()) CHECK((field.cpp_type() == type::CPPTYPE_MESSAGE && !field.is_repeated()));
    if (rule.required()) CHECK_FALSE(rule.has_default_json());
  });
}

TEST_CASE("a default is a value that the field allows") {
  each_field([](const FieldDescriptor& field, const Rule& rule) {
    if (!rule.has_default_json()) return;
    const std::string& text = rule.default_json();
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    INFO(text);
    if (field.cpp_type() == type::CPPTYPE_STRING) REQUIRE(quoted);
    if (field.cpp_type() == type::CPPTYPE_BOOL) CHECK((text == "true" || text == "false"));
    if (is_integer(field)) {
      const long long value = std::stoll(text);
      if (rule.has_minimum()) CHECK(value >= rule.minimum());
      if (rule.has_maximum()) CHECK(value <= rule.maximum());
    }
    if (rule.allowed_size() == 0) return;
    const auto value = text.substr(1, text.size() - 2);
    CHECK(std::count(rule.allowed().begin(), rule.allowed().end(), value) == 1);
  });
}

TEST_CASE("messages with a JSON form of their own have the fields of that form") {
  const std::map<Form, std::vector<std::string>> fields = {
      {TIME, {"seconds", "nanos"}}, {MICRO_TIME, {"seconds", "nanos"}},
      {QUANTITY, {"string"}},       {INT_OR_STRING, {"type", "int_val", "str_val"}},
      {RAW_JSON, {"raw"}},          {STRINGS, {"items"}},
  };
  std::set<Form> seen;
  for (const auto* message : reachable()) {
    const Form found = message->options().GetExtension(form);
    seen.insert(found);
    if (found == OBJECT) continue;
    INFO(message->full_name());
    std::vector<std::string> names;
    for (int i = 0; i < message->field_count(); ++i)
      names.push_back(message->field(i)->name());
    CHECK(names == fields.at(found));
  }
  CHECK(seen.size() == fields.size() + 1);
}

TEST_CASE("kinds have names, metadata and a list") {
  std::set<std::string> kinds_seen, plurals;
  REQUIRE(kinds().size() >= 21);
  for (const auto* message : kinds()) {
    const Kind& options = message->options().GetExtension(kind);
    INFO(message->full_name());
    const std::string api_version = options.group() + "/" + options.version() + "/";
    CHECK(options.kind() == message->name());
    CHECK(options.singular() == lower(options.kind()));
    CHECK(kinds_seen.insert(api_version + options.kind()).second);
    const auto* metadata = message->FindFieldByNumber(1);
    REQUIRE(metadata != nullptr);
    CHECK(metadata->message_type()->full_name() == "troupe.api.meta.v1.ObjectMeta");
    CHECK(options.has_status() <= (message->FindFieldByName("status") != nullptr));
    if (options.has_subresource()) {
      CHECK_FALSE(options.has_plural());
      continue;
    }
    CHECK(plurals.insert(api_version + options.plural()).second);
    const bool unlisted =
        options.verbs_size() == 1 && (options.verbs(0) == "create" || options.verbs(0) == "none");
    const auto* list = list_of(*message);
    REQUIRE((list == nullptr) == unlisted);
    if (list == nullptr) continue;
    REQUIRE(list->FindFieldByNumber(1) != nullptr);
    CHECK(list->FindFieldByNumber(1)->name() == "metadata");
    REQUIRE(list->FindFieldByNumber(2) != nullptr);
    CHECK(list->FindFieldByNumber(2)->name() == "items");
    CHECK(list->FindFieldByNumber(2)->message_type() == message);
  }
}

TEST_CASE("selectable fields are paths to scalars of the kind") {
  for (const auto* message : kinds())
    for (const auto& path : message->options().GetExtension(kind).selectable_fields()) {
      if (path == "source") continue;  // of Event: source.component or reportingComponent
      INFO(message->name() << " " << path);
      const Descriptor* at = message;
      const FieldDescriptor* field = nullptr;
      for (std::size_t begin = 0; begin < path.size();) {
        const auto end = std::min(path.find('.', begin), path.size());
        REQUIRE(at != nullptr);
        field = find_json(*at, path.substr(begin, end - begin));
        REQUIRE(field != nullptr);
        at = field->message_type();
        begin = end + 1;
      }
      CHECK(field->cpp_type() != type::CPPTYPE_MESSAGE);
    }
}

}  // namespace troupe::api::testing
