#include "actors/events/event_rules.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>

#include "actors/core/condition.hpp"
#include "api/codec/envelope.hpp"
#include "api/codec/wire.hpp"
#include "api/limits.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/values/utf8.hpp"

namespace troupe::actors {

using api::core::v1::Event;
using api::core::v1::EventSeries;
using api::meta::v1::ObjectMeta;

namespace {

// Time and MicroTime are {seconds = 1, nanos = 2}.
std::int64_t seconds(std::string_view time) {
  api::wire::reader fields{time};
  for (api::wire::field f; fields.next(f);)
    if (f.number == 1 && f.form == api::wire::type::varint)
      return static_cast<std::int64_t>(f.value);
  return 0;
}

// The seconds of the time in a field of a message.
std::int64_t seconds_in(std::string_view message, int field) {
  api::wire::reader fields{message};
  for (api::wire::field f; fields.next(f);)
    if (f.number == static_cast<std::uint32_t>(field) && f.form == api::wire::type::bytes)
      return seconds(f.bytes);
  return 0;
}

// Truncates the object's name if there is no room for the number.
std::string name_of(const api::object& about, std::int64_t number) {
  const auto suffix = fmt::format(".{:x}", number);
  auto name = about.meta().name();
  if (name.size() + suffix.size() > api::limits::dns_subdomain_bytes) {
    name.resize(api::limits::dns_subdomain_bytes - suffix.size());
    name.resize(name.find_last_not_of(".-") + 1);
  }
  return name + suffix;
}

}  // namespace

std::string event_source_key(const record_event& record) {
  const auto& meta = record.about->meta();
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", record.component, record.host,
                     record.about->kind().kind(), meta.namespace_(), meta.name(), meta.uid());
}

std::string event_key(const record_event& record) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", event_source_key(record), record.warning,
                     record.field_path, record.reason, record.message);
}

std::unique_ptr<Event> make_event(const record_event& record, runtime::wall_time at,
                                  std::int64_t number) {
  const auto& about = *record.about;
  auto event = std::make_unique<Event>();
  auto& meta = *event->mutable_metadata();
  meta.set_name(name_of(about, number));
  meta.set_namespace_(about.meta().namespace_().empty() ? "default" : about.meta().namespace_());
  auto& object = *event->mutable_involved_object();
  object.set_kind(about.kind().kind());
  object.set_api_version(about.kind().api_version());
  object.set_name(about.meta().name());
  object.set_uid(about.meta().uid());
  object.set_resource_version(std::to_string(about.revision()));
  if (!about.meta().namespace_().empty()) object.set_namespace_(about.meta().namespace_());
  if (!record.field_path.empty()) object.set_field_path(record.field_path);
  event->set_type(record.warning ? "Warning" : "Normal");
  event->set_reason(record.reason);
  // Output of a probe may be any bytes; objects contain UTF-8 text.
  api::append_utf8(*event->mutable_message(), record.message);
  event->mutable_source()->set_component(record.component);
  if (!record.host.empty()) event->mutable_source()->set_host(record.host);
  event->set_reporting_component(record.component);
  event->set_reporting_instance(record.host);
  event->mutable_first_timestamp()->set_seconds(seconds_of(at));
  event->mutable_last_timestamp()->set_seconds(seconds_of(at));
  event->set_count(1);
  return event;
}

std::int64_t last_seen(std::string_view stored) {
  const auto opened = api::open_envelope(stored);
  if (!opened) return 0;
  std::int64_t seen = 0;
  api::wire::reader fields{opened->raw};
  for (api::wire::field f; fields.next(f);) {
    if (f.form != api::wire::type::bytes) continue;
    if (f.number == Event::kMetadataFieldNumber)
      seen = std::max(seen, seconds_in(f.bytes, ObjectMeta::kCreationTimestampFieldNumber));
    else if (f.number == Event::kSeriesFieldNumber)
      seen = std::max(seen, seconds_in(f.bytes, EventSeries::kLastObservedTimeFieldNumber));
    else if (f.number == Event::kLastTimestampFieldNumber ||
             f.number == Event::kEventTimeFieldNumber)
      seen = std::max(seen, seconds(f.bytes));
  }
  return seen;
}

persistence::revision excess(std::vector<stored_event> events, const event_limits& limits) {
  std::sort(events.begin(), events.end(),
            [](const auto& a, const auto& b) { return a.written > b.written; });
  const auto rest = [](std::size_t limit) { return limit - limit / defaults::event_room; };
  std::size_t count = 0, bytes = 0;
  bool exceeded = false;
  persistence::revision cut = 0;
  for (const auto& each : events) {
    bytes += each.bytes;
    ++count;
    if (cut == 0 && (count > rest(limits.count) || bytes > rest(limits.bytes))) cut = each.written;
    exceeded = exceeded || count > limits.count || bytes > limits.bytes;
  }
  return exceeded ? cut : 0;
}

bool token_bucket::take(runtime::time_point now) {
  const auto passed =
      std::chrono::duration<double>(now - at_) / std::chrono::duration<double>(interval_);
  tokens_ = std::min(burst_, tokens_ + passed);
  at_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

}  // namespace troupe::actors
