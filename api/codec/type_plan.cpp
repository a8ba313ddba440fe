#include "api/codec/type_plan.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "api/codec/json_text.hpp"
#include "api/invariant.hpp"
#include "api/schema/duration.pb.h"
#include "api/type_info.hpp"

namespace troupe::api {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

namespace {

shape shape_of(Form form) {
  switch (form) {
    case OBJECT:
      return shape::message;
    case TIME:
      return shape::time;
    case MICRO_TIME:
      return shape::micro_time;
    case QUANTITY:
      return shape::quantity;
    case INT_OR_STRING:
      return shape::int_or_string;
    case RAW_JSON:
      return shape::raw_json;
    case STRINGS:
      return shape::strings;
  }
  return shape::message;
}

shape shape_of(const Descriptor& type) {
  if (type.options().GetExtension(meta::v1::duration_form)) return shape::duration;
  return shape_of(type.options().GetExtension(form));
}

shape shape_of(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_BOOL:
      return shape::boolean;
    case FieldDescriptor::TYPE_INT32:
      return shape::int32;
    case FieldDescriptor::TYPE_INT64:
      return shape::int64;
    case FieldDescriptor::TYPE_DOUBLE:
      return shape::number;
    case FieldDescriptor::TYPE_STRING:
      return shape::string;
    case FieldDescriptor::TYPE_BYTES:
      return shape::bytes;
    case FieldDescriptor::TYPE_MESSAGE:
      return shape_of(*field.message_type());
    default:
      ensure(false, "the schema uses only the types that Kubernetes uses");
      return shape::string;
  }
}

bool is_list_kind(const Descriptor& type) {
  return type.name().ends_with("List") && type.FindFieldByName("items") != nullptr;
}

}  // namespace

// A type is registered before its fields are read, so that types may refer to each other.
class plan_registry {
 public:
  static plan_registry& instance() {
    static auto* registry = new plan_registry;  // outlives every thread
    return *registry;
  }

  const type_plan& of(const Descriptor& type) {
    {
      std::shared_lock lock(mutex_);
      if (auto found = complete_.find(&type); found != complete_.end()) return *found->second;
    }
    std::unique_lock lock(mutex_);
    const type_plan& made = add(type);
    // Published only now, when all types below it are complete.
    complete_.emplace(&type, &made);
    return made;
  }

 private:
  type_plan& add(const Descriptor& type) {
    auto& slot = plans_[&type];
    if (slot) return *slot;
    slot.reset(new type_plan);
    type_plan& made = *slot;
    made.descriptor_ = &type;
    made.form_ = shape_of(type);
    made.has_type_meta_ = type.options().HasExtension(kind) || is_list_kind(type);
    made.size_bytes_ =
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->SpaceUsedLong();
    const type_info& info = type_info::of(type);
    for (const field_info& each : info.fields()) {
      made.fields_.push_back(plan_of(each));
      const field_plan& plan = made.fields_.back();
      if (plan.inlined) made.size_bytes_ += plan.type->size_bytes_;
    }
    for (const member& each : info.members()) {
      field_plan plan = plan_of(*each.info);
      plan.index = static_cast<std::uint16_t>(made.members_.size());
      for (const auto* step : each.through)
        plan.through.push_back(static_cast<std::uint32_t>(step->number()));
      made.members_.push_back(std::move(plan));
    }
    ensure(made.members_.size() <= type_plan::member_limit, "a plan counts all its members");
    index_numbers(made);
    made.index_names();
    return made;
  }

  field_plan plan_of(const field_info& info) {
    const FieldDescriptor& field = *info.field;
    field_plan plan;
    plan.name = field.json_name();
    append_json_string(plan.key, plan.name);
    plan.key += ':';
    plan.number = static_cast<std::uint32_t>(field.number());
    plan.many = field.is_map()        ? cardinality::map
                : field.is_repeated() ? cardinality::list
                                      : cardinality::one;
    const FieldDescriptor& value = *info.value_field();
    plan.value = shape_of(value);
    if (value.message_type() != nullptr) plan.type = &add(*value.message_type());
    plan.inlined = info.rule->inline_();
    plan.presence = info.rule->presence();
    plan.always = info.rule->always();
    return plan;
  }

  static void index_numbers(type_plan& made) {
    std::uint32_t last = 0;
    for (const field_plan& each : made.fields_)
      last = std::max(last, each.number);
    made.by_number_.resize(last + 1);
    for (const field_plan& each : made.fields_)
      made.by_number_[each.number] = &each;
    for (const field_plan* each : made.by_number_) {
      if (each == nullptr) continue;
      // Inlined messages are always present in Go, and so are their fields marked `always`.
      if (each->always || (each->inlined && !each->type->always_.empty()))
        made.always_.push_back(each);
    }
  }

  std::shared_mutex mutex_;
  std::unordered_map<const Descriptor*, std::unique_ptr<type_plan>> plans_;
  std::unordered_map<const Descriptor*, const type_plan*> complete_;
};

const type_plan& type_plan::of(const Descriptor& type) {
  return plan_registry::instance().of(type);
}

std::uint32_t type_plan::hash(std::string_view name) noexcept {
  std::uint32_t out = static_cast<std::uint32_t>(name.size());
  if (name.empty()) return out;
  for (const std::size_t i : {std::size_t{0}, name.size() / 2, name.size() - 1, name.size() / 4})
    out = out * 0x01000193u ^ static_cast<std::uint8_t>(name[i]);
  return out ^ out >> 15;
}

void type_plan::index_names() {
  slots_.resize(std::bit_ceil(members_.size() * 2 + 1));
  for (const field_plan& each : members_) {
    const std::uint32_t wanted = hash(each.name);
    std::size_t i = wanted;
    while (slots_[i & (slots_.size() - 1)].member != nullptr)
      ++i;
    slots_[i & (slots_.size() - 1)] = {wanted, &each};
  }
}

const field_plan* type_plan::find(std::string_view name) const noexcept {
  const std::uint32_t wanted = hash(name);
  for (std::size_t i = wanted;; ++i) {
    const slot& found = slots_[i & (slots_.size() - 1)];
    if (found.member == nullptr) return nullptr;
    if (found.hash == wanted && found.member->name == name) return found.member;
  }
}

}  // namespace troupe::api
