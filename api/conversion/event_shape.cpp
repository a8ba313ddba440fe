// Events with the field names of events.k8s.io/v1. Both versions are equivalent: nothing is lost.
#include <google/protobuf/message.h>

#include <algorithm>
#include <iterator>

#include "api/conversion/shapes.hpp"
#include "api/invariant.hpp"
#include "api/schema/core_event.pb.h"
#include "api/schema/events_v1.pb.h"

namespace troupe::api {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A field's two names; both have one type, except the series, whose fields are equal.
struct same_field_names {
  std::string_view shown;  // in JSON
  int shown_number;
  int home_number;
};

using home_event = core::v1::Event;
using shown_event = events::v1::Event;

constexpr same_field_names fields[] = {
    {"eventTime", shown_event::kEventTimeFieldNumber, home_event::kEventTimeFieldNumber},
    {"reportingController", shown_event::kReportingControllerFieldNumber,
     home_event::kReportingComponentFieldNumber},
    {"reportingInstance", shown_event::kReportingInstanceFieldNumber,
     home_event::kReportingInstanceFieldNumber},
    {"action", shown_event::kActionFieldNumber, home_event::kActionFieldNumber},
    {"reason", shown_event::kReasonFieldNumber, home_event::kReasonFieldNumber},
    {"regarding", shown_event::kRegardingFieldNumber, home_event::kInvolvedObjectFieldNumber},
    {"related", shown_event::kRelatedFieldNumber, home_event::kRelatedFieldNumber},
    {"note", shown_event::kNoteFieldNumber, home_event::kMessageFieldNumber},
    {"type", shown_event::kTypeFieldNumber, home_event::kTypeFieldNumber},
    {"deprecatedSource", shown_event::kDeprecatedSourceFieldNumber, home_event::kSourceFieldNumber},
    {"deprecatedFirstTimestamp", shown_event::kDeprecatedFirstTimestampFieldNumber,
     home_event::kFirstTimestampFieldNumber},
    {"deprecatedLastTimestamp", shown_event::kDeprecatedLastTimestampFieldNumber,
     home_event::kLastTimestampFieldNumber},
    {"deprecatedCount", shown_event::kDeprecatedCountFieldNumber, home_event::kCountFieldNumber},
};

// Copies the field's value or its absence.
void copy_field(const Message& from, int from_number, Message& into, int into_number) {
  const auto* source = from.GetDescriptor()->FindFieldByNumber(from_number);
  const auto* target = into.GetDescriptor()->FindFieldByNumber(into_number);
  ensure(source->cpp_type() == target->cpp_type(), "a field has one type in both shapes of it");
  const auto& read = *from.GetReflection();
  const auto& write = *into.GetReflection();
  write.ClearField(&into, target);
  if (!read.HasField(from, source)) return;
  switch (source->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return write.SetString(&into, target, read.GetString(from, source));
    case FieldDescriptor::CPPTYPE_INT32:
      return write.SetInt32(&into, target, read.GetInt32(from, source));
    default:
      write.MutableMessage(&into, target)->CopyFrom(read.GetMessage(from, source));
  }
}

template <class Series>
void copy_series(const auto& from, Series& into) {
  if (from.has_count()) into.set_count(from.count());
  if (from.has_last_observed_time()) *into.mutable_last_observed_time() = from.last_observed_time();
}

void show(const body& home, body& shown) {
  for (const auto& names : fields)
    copy_field(home, names.home_number, shown, names.shown_number);
  const auto& from = static_cast<const home_event&>(home);
  if (from.has_series())
    copy_series(from.series(), *static_cast<shown_event&>(shown).mutable_series());
}

void take(const body& shown, body& home) {
  for (const auto& names : fields)
    copy_field(shown, names.shown_number, home, names.home_number);
  const auto& from = static_cast<const shown_event&>(shown);
  auto& into = static_cast<home_event&>(home);
  into.clear_series();
  if (from.has_series()) copy_series(from.series(), *into.mutable_series());
}

// Maps "regarding.name" to "involvedObject.name".
std::string home_path(std::string_view path) {
  const auto dot = path.find('.');
  const auto first = path.substr(0, dot);
  const auto found = std::find_if(std::begin(fields), std::end(fields),
                                  [&](const auto& names) { return names.shown == first; });
  if (found == std::end(fields)) return std::string(path);
  std::string made(home_event::descriptor()->FindFieldByNumber(found->home_number)->json_name());
  if (dot != std::string_view::npos) made += path.substr(dot);
  return made;
}

}  // namespace

const kind_shape event_shape = {"v1", &show, &take, &home_path};

}  // namespace troupe::api
