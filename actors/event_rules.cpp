#include "actors/event_rules.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>

#include "actors/condition.hpp"
#include "api/limits.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/utf8.hpp"

namespace troupe::actors {

using api::core::v1::Event;

namespace {

// Of an object whose name leaves no room for the number, the beginning.
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

std::string event_source_key(const record_event& what) {
  const auto& meta = what.about->meta();
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", what.component, what.host, what.about->kind().kind(),
                     meta.namespace_(), meta.name(), meta.uid());
}

std::string event_key(const record_event& what) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", event_source_key(what), what.warning, what.field_path,
                     what.reason, what.message);
}

std::unique_ptr<Event> make_event(const record_event& what, runtime::wall_time at,
                                  std::int64_t number) {
  const auto& about = *what.about;
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
  if (!what.field_path.empty()) object.set_field_path(what.field_path);
  event->set_type(what.warning ? "Warning" : "Normal");
  event->set_reason(what.reason);
  // What a probe printed may be any bytes; objects are text.
  api::append_utf8(*event->mutable_message(), what.message);
  event->mutable_source()->set_component(what.component);
  if (!what.host.empty()) event->mutable_source()->set_host(what.host);
  event->set_reporting_component(what.component);
  event->set_reporting_instance(what.host);
  event->mutable_first_timestamp()->set_seconds(seconds_of(at));
  event->mutable_last_timestamp()->set_seconds(seconds_of(at));
  event->set_count(1);
  return event;
}

std::int64_t last_seen(const Event& event) {
  return std::max({event.metadata().creation_timestamp().seconds(),
                   event.last_timestamp().seconds(), event.event_time().seconds(),
                   event.series().last_observed_time().seconds()});
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
