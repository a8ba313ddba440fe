#include "api/conversion/carry_over.hpp"

#include <google/protobuf/message.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/equality.hpp"
#include "api/type_info.hpp"

namespace troupe::api {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

// Finds elements of a repeated field by the text of one of their fields, each only once.
class elements {
 public:
  elements(const body& of, const FieldDescriptor* list, const FieldDescriptor* key) : key_{key} {
    const Reflection& access = *of.GetReflection();
    for (int i = 0; i < access.FieldSize(of, list); ++i) {
      const body& each = access.GetRepeatedMessage(of, list, i);
      all_.push_back(&each);
      by_key_.emplace(text(each), &each);
    }
  }

  const body* take(const std::string& name) {
    const auto found = by_key_.find(name);
    if (found == by_key_.end()) return nullptr;
    const body* taken = found->second;
    by_key_.erase(found);
    return taken;
  }
  std::string text(const body& element) const {
    const Reflection& access = *element.GetReflection();
    switch (key_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return access.GetString(element, key_);
      case FieldDescriptor::CPPTYPE_INT32:
        return std::to_string(access.GetInt32(element, key_));
      default:
        return std::to_string(access.GetInt64(element, key_));
    }
  }
  const std::vector<const body*>& all() const noexcept { return all_; }

 private:
  const FieldDescriptor* key_;
  std::vector<const body*> all_;
  std::multimap<std::string, const body*> by_key_;
};

// Of two elements with equal keys the first is matched first.
void list(body& now, const body& shown, const body& original, const FieldDescriptor* field,
          const FieldDescriptor* key, bool scalar_values) {
  elements before(shown, field, key), in_original(original, field, key);
  const Reflection& access = *now.GetReflection();
  for (int i = 0; i < access.FieldSize(now, field); ++i) {
    body& each = *access.MutableRepeatedMessage(&now, field, i);
    const std::string name = in_original.text(each);
    const body* was = before.take(name);
    const body* full = was == nullptr ? nullptr : in_original.take(name);
    if (full == nullptr) continue;
    if (!scalar_values)
      carry_over(each, *was, *full);
    else if (same_meaning(each, *was))
      each.CopyFrom(*full);
  }
  // Elements that were shown but not sent back were removed.
  for (const body* each : before.all())
    if (const std::string name = before.text(*each); before.take(name) != nullptr)
      in_original.take(name);
  for (const body* each : in_original.all())
    if (const body* left = in_original.take(in_original.text(*each)); left != nullptr)
      access.AddMessage(&now, field)->CopyFrom(*left);
}

bool is_object(const field_info& info) {
  return info.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && info.type != nullptr &&
         info.type->form() == OBJECT;
}

const FieldDescriptor* key_of(const field_info& info) {
  if (info.field->is_map()) return info.field->message_type()->map_key();
  if (!is_object(info) || info.rule->patch_merge_key().empty()) return nullptr;
  const member* found = info.type->find(info.rule->patch_merge_key());
  return found == nullptr || !found->through.empty() ? nullptr : found->info->field;
}

}  // namespace

void carry_over(body& now, const body& shown, const body& original) {
  const type_info& type = type_info::of(*now.GetDescriptor());
  const Reflection& access = *now.GetReflection();
  std::unique_ptr<body> source(original.New());
  source->CopyFrom(original);
  for (const field_info& info : type.fields()) {
    const FieldDescriptor* field = info.field;
    if (same_field(now, shown, *field)) {
      access.SwapFields(&now, source.get(), {field});
      continue;
    }
    if (field->is_repeated()) {
      if (const FieldDescriptor* key = key_of(info))
        list(now, shown, original, field, key, field->is_map() && !is_object(info));
    } else if (is_object(info) && access.HasField(now, field) && access.HasField(shown, field) &&
               access.HasField(original, field)) {
      carry_over(*access.MutableMessage(&now, field), access.GetMessage(shown, field),
                 access.GetMessage(original, field));
    }
  }
}

}  // namespace troupe::api
