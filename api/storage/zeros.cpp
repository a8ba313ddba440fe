#include "api/storage/zeros.hpp"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <span>
#include <vector>

#include "api/codec/wire_writer.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::api {

namespace {

// metadata.clusterName: written as an empty string up to 1.23, then removed.
constexpr std::uint32_t cluster_name_number = 15;
constexpr int last_minor_with_cluster_name = 23;

bool is_object_meta(const type_plan& type) {
  return &type.descriptor() == meta::v1::ObjectMeta::descriptor();
}

bool is_numeric(shape value) {
  return value <= shape::number;
}

// A message that is not a pointer in Go.
bool is_struct(const field_plan& plan) {
  return plan.many == cardinality::one && (plan.always || plan.inlined);
}

// metadata.creationTimestamp, which JSON omits if it is unset.
bool is_creation(const type_plan& type, const field_plan& plan) {
  return is_object_meta(type) && plan.number == meta::v1::ObjectMeta::kCreationTimestampFieldNumber;
}

// Fields that are always written since a release after 1.20.
struct newer_field {
  std::string_view type;  // without "troupe.api."
  std::uint32_t number;
  int since;
};
constexpr std::array newer_fields = {
    newer_field{"meta.v1.ManagedFieldsEntry", 8, 22},  // subresource
    newer_field{"batch.v1.JobStatus", 7, 21},          // completedIndexes
    newer_field{"apps.v1.StatefulSetSpec", 9, 22},     // minReadySeconds
    newer_field{"apps.v1.StatefulSetStatus", 11, 22},  // availableReplicas
    newer_field{"core.v1.PodStatus", 14, 27},          // resize
    newer_field{"core.v1.PodStatus", 17, 33},          // observedGeneration
    newer_field{"core.v1.PodCondition", 7, 33},        // observedGeneration
};

bool is_newer(const type_plan& type, const field_plan& plan, int minor) {
  const std::string_view name = type.descriptor().full_name();
  return std::any_of(newer_fields.begin(), newer_fields.end(), [&](const newer_field& each) {
    return each.number == plan.number && each.since > minor && name.ends_with(each.type);
  });
}

bool read_fields(std::string_view wire, std::vector<wire::field>& fields) {
  wire::reader reader(wire);
  for (wire::field f; reader.next(f);)
    fields.push_back(f);
  return reader.ok();
}

// -- adding zeros ---------------------------------------------------------------------------------

class filler {
 public:
  explicit filler(int minor) : minor_(minor) {}

  bool message(const type_plan& type, std::string_view wire);
  std::string take() noexcept { return out_.take(); }

 private:
  void zero(const type_plan& type, const field_plan& plan);
  bool field(const field_plan& plan, const wire::field& f);
  bool value(const field_plan& plan, std::uint32_t number, std::string_view wire);
  bool map_entry(const field_plan& plan, std::string_view wire);
  bool scalars(std::string_view wire, std::span<const shape> forms);

  const int minor_;
  wire::writer out_;
};

bool filler::message(const type_plan& type, std::string_view wire) {
  std::vector<wire::field> fields;
  if (!read_fields(wire, fields)) return false;
  std::stable_sort(fields.begin(), fields.end(),
                   [](const auto& a, const auto& b) { return a.number < b.number; });
  auto next = fields.begin();
  const bool named = is_object_meta(type) && minor_ <= last_minor_with_cluster_name;
  for (std::uint32_t number = 1; number < type.number_limit() || next != fields.end(); ++number) {
    if (number >= type.number_limit()) number = next->number;
    const auto* plan = type.find(number);
    if (next == fields.end() || next->number != number) {
      if (plan != nullptr) zero(type, *plan);
      if (named && number == cluster_name_number) out_.bytes(number, {});
      continue;
    }
    for (; next != fields.end() && next->number == number; ++next) {
      if (plan == nullptr)
        out_.raw(next->bytes_with_tag);
      else if (!field(*plan, *next))
        return false;
    }
  }
  return true;
}

void filler::zero(const type_plan& type, const field_plan& plan) {
  if (plan.many != cardinality::one || plan.presence || is_newer(type, plan, minor_)) return;
  if (plan.value == shape::number) return out_.fixed64(plan.number, 0);
  if (is_numeric(plan.value)) return out_.varint(plan.number, 0);
  if (plan.value == shape::string) return out_.bytes(plan.number, {});
  if ((is_struct(plan) || is_creation(type, plan)) && plan.value != shape::bytes &&
      plan.value != shape::strings)
    value(plan, plan.number, {});
}

bool filler::field(const field_plan& plan, const wire::field& f) {
  if (plan.many == cardinality::map) return map_entry(plan, f.bytes);
  if (plan.type == nullptr) {
    out_.raw(f.bytes_with_tag);
    return true;
  }
  return f.form == wire::type::bytes && value(plan, plan.number, f.bytes);
}

bool filler::map_entry(const field_plan& plan, std::string_view wire) {
  out_.begin(plan.number);
  bool ok = true, has_value = false;
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);) {
    if (f.number == form_field::map_value && plan.type != nullptr) {
      ok = ok && value(plan, f.number, f.bytes);
      has_value = true;
    } else {
      out_.raw(f.bytes_with_tag);
    }
  }
  if (!has_value && plan.type != nullptr) ok = ok && value(plan, form_field::map_value, {});
  out_.end();
  return ok && fields.ok();
}

// Handles a message of any form.
bool filler::value(const field_plan& plan, std::uint32_t number, std::string_view wire) {
  static constexpr shape time[] = {shape::int64, shape::int32};
  static constexpr shape duration[] = {shape::int64};
  static constexpr shape choice[] = {shape::int32, shape::int32, shape::string};
  out_.begin(number);
  bool ok = true;
  switch (plan.value) {
    case shape::time:
    case shape::micro_time:
      if (!wire.empty()) ok = scalars(wire, time);
      break;
    case shape::duration:
      ok = scalars(wire, duration);
      break;
    case shape::int_or_string:
      ok = scalars(wire, choice);
      break;
    case shape::quantity:
      if (wire.empty())
        out_.bytes(form_field::quantity_string, "0");
      else
        out_.raw(wire);
      break;
    case shape::raw_json:
    case shape::strings:
      out_.raw(wire);
      break;
    default:
      ok = message(*plan.type, wire);
  }
  out_.end();
  return ok;
}

// Fields 1, 2, … of the messages that are not objects in JSON.
bool filler::scalars(std::string_view wire, std::span<const shape> forms) {
  std::vector<wire::field> fields;
  if (!read_fields(wire, fields)) return false;
  for (std::uint32_t i = 0; i < forms.size(); ++i) {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [i](const wire::field& f) { return f.number == i + 1; });
    if (found != fields.end())
      out_.raw(found->bytes_with_tag);
    else if (forms[i] == shape::string)
      out_.bytes(i + 1, {});
    else
      out_.varint(i + 1, 0);
  }
  return true;
}

// -- removing zeros -------------------------------------------------------------------------------

class stripper {
 public:
  bool message(const type_plan& type, std::string_view wire);
  std::string take() noexcept { return out_.take(); }

 private:
  bool field(const field_plan& plan, const wire::field& f);
  bool value(const field_plan& plan, std::uint32_t number, std::string_view wire);
  bool map_entry(const field_plan& plan, std::string_view wire);
  bool scalars(std::string_view wire);

  wire::writer out_;
};

bool is_zero(const wire::field& f) {
  return f.form == wire::type::bytes ? f.bytes.empty() : f.value == 0;
}

bool stripper::message(const type_plan& type, std::string_view wire) {
  const bool named = is_object_meta(type);
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);) {
    const auto* plan = type.find(f.number);
    if (plan != nullptr) {
      if (!field(*plan, f)) return false;
    } else if (!(named && f.number == cluster_name_number && is_zero(f))) {
      out_.raw(f.bytes_with_tag);
    }
  }
  return fields.ok();
}

bool stripper::field(const field_plan& plan, const wire::field& f) {
  if (plan.many == cardinality::map) return f.form == wire::type::bytes && map_entry(plan, f.bytes);
  if (plan.type != nullptr) return f.form == wire::type::bytes && value(plan, plan.number, f.bytes);
  const bool keep = plan.presence || plan.many == cardinality::list;
  if (keep || !is_zero(f)) out_.raw(f.bytes_with_tag);
  return true;
}

bool stripper::map_entry(const field_plan& plan, std::string_view wire) {
  if (plan.type == nullptr) {
    out_.bytes(plan.number, wire);
    return true;
  }
  out_.begin(plan.number);
  bool ok = true;
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);) {
    if (f.number == form_field::map_value)
      ok = ok && value(plan, f.number, f.bytes);
    else
      out_.raw(f.bytes_with_tag);
  }
  out_.end();
  return ok && fields.ok();
}

bool stripper::value(const field_plan& plan, std::uint32_t number, std::string_view wire) {
  const bool is_member = plan.many == cardinality::one;
  bool empty_is_absent = is_struct(plan);
  bool ok = true;
  out_.begin(number);
  switch (plan.value) {
    case shape::time:
    case shape::micro_time:
      ok = scalars(wire);
      empty_is_absent = is_member;
      break;
    case shape::duration:
    case shape::int_or_string:
      ok = scalars(wire);
      break;
    case shape::quantity:
      // "0" means absent.
      if (!empty_is_absent || wire != std::string_view("\x0a\x01\x30")) out_.raw(wire);
      break;
    case shape::raw_json:
      out_.raw(wire);
      empty_is_absent = is_member;
      break;
    case shape::strings:
      out_.raw(wire);
      empty_is_absent = false;
      break;
    default:
      ok = message(*plan.type, wire);
  }
  if (empty_is_absent)
    out_.end_unless_empty();
  else
    out_.end();
  return ok;
}

bool stripper::scalars(std::string_view wire) {
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);)
    if (!is_zero(f)) out_.raw(f.bytes_with_tag);
  return fields.ok();
}

}  // namespace

std::optional<std::string> with_zeros(const type_plan& type, std::string_view wire, int minor) {
  filler walk(minor);
  if (!walk.message(type, wire)) return std::nullopt;
  return walk.take();
}

std::optional<std::string> without_zeros(const type_plan& type, std::string_view wire) {
  stripper walk;
  if (!walk.message(type, wire)) return std::nullopt;
  return walk.take();
}

}  // namespace troupe::api
