// The schema's defaults, by plans that are made once for each message type: the fields with a
// constant, and the fields below which there are more.
#include <google/protobuf/message.h>
#include <rapidjson/document.h>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <unordered_set>

#include "api/invariant.hpp"
#include "api/strategy/defaults.hpp"
#include "api/type_info.hpp"

namespace troupe::api {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

struct constant {
  const FieldDescriptor* field;
  bool presence;  // zero is a value: only an absent field gets the default
  std::string text;
  std::int64_t number = 0;
  std::unique_ptr<Message> message;

  bool absent(const Message& in, const Reflection& reflection) const;
  void set(Message& in, const Reflection& reflection) const;
};

struct plan {
  std::vector<constant> constants;
  struct below {
    const FieldDescriptor* field;
    const plan* inner;
  };
  std::vector<below> descents;
};

bool constant::absent(const Message& in, const Reflection& reflection) const {
  if (!reflection.HasField(in, field)) return true;
  if (presence || message) return false;
  std::string scratch;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetStringReference(in, field, &scratch).empty();
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(in, field) == 0;
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.GetInt64(in, field) == 0;
    default:
      return !reflection.GetBool(in, field);
  }
}

void constant::set(Message& in, const Reflection& reflection) const {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      reflection.SetString(&in, field, text);
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      reflection.SetInt32(&in, field, static_cast<std::int32_t>(number));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      reflection.SetInt64(&in, field, number);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      reflection.SetBool(&in, field, number != 0);
      break;
    default:
      reflection.MutableMessage(&in, field)->CopyFrom(*message);
      break;
  }
}

// A literal for a message: {} for an object, a number or a string for an IntOrString.
std::unique_ptr<Message> message_of(const type_info& type, const rapidjson::Value& literal) {
  auto* prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type.descriptor());
  std::unique_ptr<Message> made(prototype->New());
  const auto& reflection = *made->GetReflection();
  const auto by_name = [&](const char* name) { return type.descriptor().FindFieldByName(name); };
  if (type.form() == INT_OR_STRING) {
    reflection.SetInt64(made.get(), by_name("type"), literal.IsString() ? 1 : 0);
    if (literal.IsString())
      reflection.SetString(made.get(), by_name("str_val"), literal.GetString());
    else
      reflection.SetInt32(made.get(), by_name("int_val"), literal.GetInt());
  } else if (type.form() == QUANTITY) {
    reflection.SetString(made.get(), by_name("string"), literal.GetString());
  } else {
    ensure(literal.IsObject() && literal.ObjectEmpty(), "a message's default in the schema is {}");
  }
  return made;
}

// Some messages are never absent: an empty one gets all its defaults.
bool has_constant(const field_info& info) {
  const auto& rule = *info.rule;
  const bool is_required =
      rule.required() && info.type && info.type->form() == OBJECT && !info.field->is_repeated();
  return rule.has_default_json() || (rule.always() && (is_required || info.name() == "spec"));
}

constant read_constant(const field_info& info) {
  constant made{info.field, info.rule->presence(), {}, 0, nullptr};
  rapidjson::Document literal;
  literal.Parse(info.rule->has_default_json() ? info.rule->default_json().c_str() : "{}");
  ensure(!literal.HasParseError(), "a default of the schema is a JSON literal");
  if (info.type) {
    made.message = message_of(*info.type, literal);
  } else if (literal.IsString()) {
    ensure(info.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING,
           "a default of the schema is of its field's type");
    made.text = literal.GetString();
  } else {
    ensure(literal.IsBool() || literal.IsInt64(), "a default of the schema is of its field's type");
    made.number = literal.IsBool() ? literal.GetBool() : literal.GetInt64();
  }
  return made;
}

class planner {
 public:
  static const plan& of(const google::protobuf::Descriptor& type) {
    static auto* only = new planner;  // outlives every thread
    {
      std::shared_lock lock(only->mutex_);
      if (auto found = only->plans_.find(&type); found != only->plans_.end()) return *found->second;
    }
    std::unique_lock lock(only->mutex_);
    return only->add(type_info::of(type));
  }

 private:
  const plan& add(const type_info& type) {
    if (auto found = plans_.find(&type.descriptor()); found != plans_.end()) return *found->second;
    auto& made = *plans_.emplace(&type.descriptor(), std::make_unique<plan>()).first->second;
    for (const auto& info : type.fields()) {
      if (has_constant(info)) made.constants.push_back(read_constant(info));
      std::unordered_set<const type_info*> seen;
      if (info.type && has_constants(*info.type, seen))
        made.descents.push_back({info.field, &add(*info.type)});
    }
    return made;
  }

  static bool has_constants(const type_info& type, std::unordered_set<const type_info*>& seen) {
    if (!seen.insert(&type).second) return false;
    for (const auto& info : type.fields()) {
      if (has_constant(info)) return true;
      if (info.type && has_constants(*info.type, seen)) return true;
    }
    return false;
  }

  std::shared_mutex mutex_;
  std::unordered_map<const google::protobuf::Descriptor*, std::unique_ptr<plan>> plans_;
};

void apply(const plan& plan, Message& message) {
  const auto& reflection = *message.GetReflection();
  for (const auto& constant : plan.constants)
    if (constant.absent(message, reflection)) constant.set(message, reflection);
  for (const auto& [field, inner] : plan.descents) {
    if (!field->is_repeated()) {
      if (reflection.HasField(message, field))
        apply(*inner, *reflection.MutableMessage(&message, field));
      continue;
    }
    // Maps of messages have no defaults in the schema (quantities only).
    if (field->is_map()) continue;
    const int size = reflection.FieldSize(message, field);
    for (int i = 0; i < size; ++i)
      apply(*inner, *reflection.MutableRepeatedMessage(&message, field, i));
  }
}

}  // namespace

void set_schema_defaults(Message& message) {
  apply(planner::of(*message.GetDescriptor()), message);
}

}  // namespace troupe::api
