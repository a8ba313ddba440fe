// Events and operations.
#include "api/conversion/conversion.hpp"
#include "api/conversion/default_copy.hpp"
#include "api/schema/core_event.pb.h"
#include "api/v1beta1/conversion.hpp"
#include "api/v1beta1/v1beta1.hpp"

namespace troupe::api::v1beta1 {
namespace {

void to_event(const Event& from, core::v1::Event& to) {
  to_meta(from.meta(), *to.mutable_metadata());
  default_copy(from.involved_object(), *to.mutable_involved_object());
  if (!from.reason().empty()) to.set_reason(from.reason());
  if (!from.message().empty()) to.set_message(from.message());
  if (!from.source().empty()) to.mutable_source()->set_component(from.source());
  if (!from.host().empty()) to.mutable_source()->set_host(from.host());
  if (!from.has_timestamp()) return;
  *to.mutable_first_timestamp() = from.timestamp();
  *to.mutable_last_timestamp() = from.timestamp();
}

void from_event(const core::v1::Event& from, Event& to) {
  from_meta(from.metadata(), *to.mutable_meta());
  default_copy(from.involved_object(), *to.mutable_involved_object());
  if (!from.reason().empty()) to.set_reason(from.reason());
  if (!from.message().empty()) to.set_message(from.message());
  const auto& source =
      from.source().component().empty() ? from.reporting_component() : from.source().component();
  if (!source.empty()) to.set_source(source);
  if (!from.source().host().empty()) to.set_host(from.source().host());
  if (from.has_last_timestamp()) *to.mutable_timestamp() = from.last_timestamp();
}

}  // namespace

void register_events(conversions& to) {
  to.add_kind<Event, core::v1::Event>();
  to.add_conversion(&to_event);
  to.add_conversion(&from_event);
  to.add_kind<ServerOp>();
}

}  // namespace troupe::api::v1beta1
