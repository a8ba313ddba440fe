#include "actors/link/frames.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/link/defaults.hpp"
#include "api/codec/envelope.hpp"
#include "api/object/object_key.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

namespace {

// Truncates the reason: it may contain a peer's text of any length.
tl::unexpected<std::string> malformed(std::string reason) {
  if (reason.size() > link_defaults::reason_limit_bytes)
    reason.resize(link_defaults::reason_limit_bytes);
  std::replace_if(
      reason.begin(), reason.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return tl::make_unexpected(std::move(reason));
}

readable<std::unique_ptr<api::body>> read_body(const api::kind_info& kind,
                                               const std::string& stored) {
  const auto opened = api::open_envelope(stored);
  if (!opened) return malformed(opened.error().message);
  if (opened->kind != kind.kind() || opened->api_version != kind.api_version())
    return malformed(fmt::format("a {} of {} was expected, not a {} of {}", kind.kind(),
                                 kind.api_version(), opened->kind, opened->api_version));
  auto content = kind.make();
  if (!content->ParseFromArray(opened->raw.data(), static_cast<int>(opened->raw.size())))
    return malformed(fmt::format("the bytes are not a {}", kind.kind()));
  content->DiscardUnknownFields();
  return content;
}

void write_cause(wire::Cause& out, const persistence::change_cause& cause) {
  out.set_request(cause.request);
  out.set_trigger(cause.trigger);
  out.set_author(cause.author);
}

persistence::change_cause read_cause(const wire::Cause& from) {
  return {.request = from.request(), .trigger = from.trigger(), .author = from.author()};
}

void write_event(wire::Event& out, const watch_event& event) {
  out.set_type(static_cast<wire::Event::Type>(event.type));
  out.set_at(event.at);
  if (event.object) {
    out.set_key(api::key_of(*event.object));
    write_object(*out.mutable_object(), event.object);
  }
  write_cause(*out.mutable_why(), event.cause);
}

}  // namespace

// -- parts ----------------------------------------------------------------------------------------

void write_object(wire::Object& out, const api::object_ptr& object) {
  if (!object) return;
  out.set_stored(api::to_storage(object->kind(), object->content()));
  out.set_revision(object->revision());
}

readable<api::object_ptr> read_object(const wire::Object& from, std::string_view key) {
  if (from.stored().empty()) return nullptr;
  const auto kind = api::scheme::instance().find_key(key);
  if (!kind) return malformed(fmt::format("no kind has the key {}", key));
  auto made = api::object::from_storage(*kind, from.stored(), from.revision());
  if (!made) return malformed(made.error().message);
  if (api::key_of(**made) != key) return malformed(fmt::format("{} holds another object", key));
  return std::move(*made);
}

void write_error(wire::Error& out, const persistence::error& e) {
  out.set_code(static_cast<int>(e.code));
  out.set_message(e.message);
  out.set_key(e.key);
  out.set_actual(e.actual);
}

void write_error(wire::Error& out, const api::error& e) {
  out.set_code(e.code);
  out.set_reason(e.reason);
  out.set_message(e.message);
  out.set_retry_after_seconds(e.retry_after_seconds);
}

persistence::error read_store_error(const wire::Error& from) {
  using persistence::errc;
  const bool known = from.code() >= 0 && from.code() <= static_cast<int>(errc::restored);
  return {.code = known ? static_cast<errc>(from.code()) : errc::io,
          .message = from.message(),
          .key = from.key(),
          .actual = from.actual()};
}

api::error read_api_error(const wire::Error& from) {
  api::error e;
  e.code = from.code();
  e.reason = from.reason();
  e.message = from.message();
  e.retry_after_seconds = from.retry_after_seconds();
  return e;
}

// -- from the node --------------------------------------------------------------------------------

void write_commit(wire::Commit& out, std::uint64_t id,
                  const persistence::transaction& transaction) {
  out.set_id(id);
  for (const auto& each : transaction.preconditions) {
    auto& into = *out.add_preconditions();
    into.set_key(each.key);
    into.set_at(each.at);
  }
  for (const auto& each : transaction.mutations) {
    auto& into = *out.add_mutations();
    into.set_key(each.key);
    if (each.content) into.set_stored(api::to_storage(*each.kind, *each.content));
  }
  write_cause(*out.mutable_why(), transaction.cause);
}

readable<persistence::transaction> read_commit(const wire::Commit& from) {
  persistence::transaction transaction;
  for (const auto& each : from.preconditions())
    transaction.preconditions.push_back({each.key(), each.at()});
  for (const auto& each : from.mutations()) {
    const auto kind = api::scheme::instance().find_key(each.key());
    if (!kind) return malformed(fmt::format("no kind has the key {}", each.key()));
    std::unique_ptr<api::body> content;
    if (!each.stored().empty()) {
      auto made = read_body(*kind, each.stored());
      if (!made) return malformed(made.error());
      content = std::move(*made);
      const auto& meta = api::meta_of(*content);
      if (kind->key(kind->namespaced() ? meta.namespace_() : std::string{}, meta.name()) !=
          each.key())
        return malformed(fmt::format("{} would hold another object", each.key()));
    }
    transaction.mutations.push_back({each.key(), kind, std::move(content)});
  }
  transaction.cause = read_cause(from.why());
  return transaction;
}

void write_evict(wire::Evict& out, std::uint64_t id, const evict& eviction) {
  out.set_id(id);
  out.set_pod_key(eviction.pod_key);
  out.set_pod_uid(eviction.pod_uid);
  out.set_grace_seconds(eviction.grace_seconds);
  out.set_reason(eviction.reason);
  out.set_message(eviction.message);
  write_cause(*out.mutable_why(), eviction.cause);
}

evict read_evict(const wire::Evict& from) {
  return {.pod_key = from.pod_key(),
          .pod_uid = from.pod_uid(),
          .grace_seconds = from.grace_seconds(),
          .reason = from.reason(),
          .message = from.message(),
          .cause = read_cause(from.why())};
}

void write_remove(wire::Remove& out, std::uint64_t id, const remove& removal) {
  out.set_id(id);
  out.set_key(removal.key);
  out.set_uid(removal.uid);
  out.set_at(removal.at);
  out.set_grace_seconds(removal.grace_seconds);
  out.set_propagation(removal.propagation);
  write_cause(*out.mutable_why(), removal.cause);
}

remove read_remove(const wire::Remove& from) {
  return {.key = from.key(),
          .uid = from.uid(),
          .at = from.at(),
          .grace_seconds = from.grace_seconds(),
          .propagation = from.propagation(),
          .cause = read_cause(from.why())};
}

void write_request_token(wire::RequestToken& out, std::uint64_t id, const request_token& request) {
  const auto& order = request.order;
  out.set_id(id);
  out.set_namespace_(order.ns);
  out.set_account(order.account);
  for (const auto& each : order.audiences)
    out.add_audiences(each);
  out.set_expiration_seconds(order.expiration_seconds);
  out.set_pod_name(order.bound_name);
  out.set_pod_uid(order.bound_uid);
}

request_token read_request_token(const wire::RequestToken& from) {
  return {.order = {.ns = from.namespace_(),
                    .account = from.account(),
                    .audiences = {from.audiences().begin(), from.audiences().end()},
                    .expiration_seconds = from.expiration_seconds(),
                    .bound_kind = "Pod",
                    .bound_api_version = "v1",
                    .bound_name = from.pod_name(),
                    .bound_uid = from.pod_uid()}};
}

console_view read_console_answer(const wire::ConsoleAnswer& from) {
  const auto status = from.status();
  if (status != 0 && status != 200 && (status < 400 || status > 599))
    return {0, fmt::format("the node answers with {}, which is no valid status", status)};
  console_view view{status, from.body()};
  if (from.has_total()) view.total = from.total();
  return view;
}

// -- from the control plane -----------------------------------------------------------------------

std::vector<wire::WatchEvents> write_events(std::uint64_t stream, const watch_events& message) {
  std::vector<wire::WatchEvents> parts(1);
  std::size_t bytes = 0;
  for (const auto& event : message.events) {
    if (bytes >= link_defaults::batch_bytes) {
      parts.back().set_unfinished(true);
      parts.emplace_back();
      bytes = 0;
    }
    auto& into = *parts.back().add_events();
    write_event(into, event);
    bytes += into.object().stored().size() + into.key().size();
  }
  for (auto& part : parts) {
    part.set_stream(stream);
    part.set_up_to(message.up_to);
    part.set_synced(message.synced);
  }
  return parts;
}

readable<std::vector<watch_event>> read_events(const wire::WatchEvents& from) {
  std::vector<watch_event> events;
  events.reserve(static_cast<std::size_t>(from.events_size()));
  for (const auto& each : from.events()) {
    watch_event event;
    if (each.type() < 0 || each.type() > wire::Event::BOOKMARK)
      return malformed(fmt::format("{} is not an event type", each.type()));
    event.type = static_cast<event_type>(each.type());
    event.at = each.at();
    event.cause = read_cause(each.why());
    if (event.type != event_type::bookmark) {
      auto object = read_object(each.object(), each.key());
      if (!object) return malformed(object.error());
      if (!*object) return malformed(fmt::format("an event about {} has no object", each.key()));
      event.object = std::move(*object);
    }
    events.push_back(std::move(event));
  }
  return events;
}

void write_commit_done(wire::CommitDone& out, std::uint64_t id,
                       const persistence::outcome& result) {
  out.set_id(id);
  if (!result) return write_error(*out.mutable_error(), result.error());
  auto& committed = *out.mutable_committed();
  committed.set_at(result->at);
  for (const auto& object : result->objects)
    write_object(*committed.add_objects(), object);
}

readable<persistence::outcome> read_commit_done(const wire::CommitDone& from,
                                                const std::vector<std::string>& keys) {
  if (!from.has_committed())
    return persistence::outcome{tl::make_unexpected(read_store_error(from.error()))};
  const auto& committed = from.committed();
  if (static_cast<std::size_t>(committed.objects_size()) != keys.size())
    return malformed(
        fmt::format("{} objects were committed, not {}", keys.size(), committed.objects_size()));
  persistence::committed done{committed.at(), {}};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto object = read_object(committed.objects(static_cast<int>(i)), keys[i]);
    if (!object) return malformed(object.error());
    done.objects.push_back(std::move(*object));
  }
  return persistence::outcome{std::move(done)};
}

void write_command_done(wire::CommandDone& out, std::uint64_t id,
                        const api::expected<api::object_ptr>& result) {
  out.set_id(id);
  if (!result) return write_error(*out.mutable_error(), result.error());
  write_object(*out.mutable_object(), *result);
  if (*result) out.set_key(api::key_of(**result));
}

void write_token_answer(wire::TokenAnswer& out, std::uint64_t id,
                        const api::expected<granted_token>& result) {
  out.set_id(id);
  if (!result) return write_error(*out.mutable_error(), result.error());
  out.mutable_token()->set_text(result->token);
  out.mutable_token()->set_expires(result->expires);
}

api::expected<granted_token> read_token_answer(const wire::TokenAnswer& from) {
  if (from.has_token()) return granted_token{from.token().text(), from.token().expires()};
  if (from.has_error()) return api::fail(read_api_error(from.error()));
  return api::fail(api::internal("the answer to a token request is empty"));
}

readable<api::expected<api::object_ptr>> read_command_done(const wire::CommandDone& from) {
  if (from.has_error())
    return api::expected<api::object_ptr>{api::fail(read_api_error(from.error()))};
  auto object = read_object(from.object(), from.key());
  if (!object) return malformed(object.error());
  return api::expected<api::object_ptr>{std::move(*object)};
}

}  // namespace troupe::actors
