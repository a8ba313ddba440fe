#include "server/rest/answers/frames.hpp"

#include "api/codec/codec.hpp"
#include "api/codec/json_text.hpp"
#include "api/codec/wire.hpp"
#include "api/schema/meta_object.pb.h"
#include "server/rest/answers/tables.hpp"

namespace troupe::server {
namespace {

using actors::event_type;

// Larger frames are not cached: the cache stays below 16 MiB.
constexpr std::size_t cached_frame_bytes = 64u << 10;

constexpr std::string_view initial_events_end = "k8s.io/initial-events-end";

std::string_view name_of(event_type type) {
  switch (type) {
    case event_type::added:
      return "ADDED";
    case event_type::modified:
      return "MODIFIED";
    case event_type::deleted:
      return "DELETED";
    case event_type::bookmark:
      return "BOOKMARK";
  }
  return {};
}

// {"type":"ADDED","object":{...}} and a line feed.
std::string json_frame(std::string_view type, std::string_view object) {
  std::string out;
  out.reserve(object.size() + 40);
  out += R"({"type":")";
  out += type;
  out += R"(","object":)";
  out += object;
  out += "}\n";
  return out;
}

// Four bytes of length, then WatchEvent{type = 1, object = 2 RawExtension{raw = 1}}; raw has its
// own envelope (kubernetes: apimachinery/pkg/runtime/serializer/protobuf).
std::string wire_frame(std::string_view type, std::string_view object) {
  std::string raw;
  raw.reserve(object.size() + 8);
  api::wire::append_bytes(raw, 1, object);
  std::string event;
  event.reserve(raw.size() + 32);
  api::wire::append_bytes(event, 1, type);
  api::wire::append_bytes(event, 2, raw);
  const auto size = static_cast<std::uint32_t>(event.size());
  std::string out;
  out.reserve(event.size() + 4);
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(size >> shift & 0xff);
  out += event;
  return out;
}

std::string frame_of(const frame_form& form, std::string_view type, const response& content) {
  const auto text = content.content.text();
  if (form.answer.media == api::media::protobuf) return wire_frame(type, text);
  const std::string_view line = text;
  return json_frame(type, line.ends_with('\n') ? line.substr(0, line.size() - 1) : line);
}

}  // namespace

std::string event_frame(const frame_form& form, event_type type, const api::object_ptr& object) {
  const auto name = name_of(type);
  if (form.answer.as == shape::object) {
    return form.answer.media == api::media::protobuf ? wire_frame(name, *object->protobuf_text())
                                                     : json_frame(name, *object->json_text());
  }
  if (form.answer.as == shape::table) {
    const list_page page{&object->kind(), {object}, object->revision(), {}, {}};
    return json_frame(
        name, table_json(page, {.v1 = form.answer.v1, .rows = form.rows, .columns = form.columns}));
  }
  return frame_of(form, name, object_answer(form.answer, 200, object));
}

std::string bookmark_frame(const frame_form& form, const api::kind_info& kind,
                           std::uint64_t revision, bool initial_end) {
  auto content = kind.make();
  if (initial_end)
    (*api::meta_of(*content).mutable_annotations())[std::string{initial_events_end}] = "true";
  return event_frame(form, event_type::bookmark,
                     std::make_shared<const api::object>(kind, std::move(content), revision));
}

std::string error_frame(const frame_form& form, const api::error& error) {
  return frame_of(form, "ERROR", error_answer(form.answer, error));
}

shared_text frame_cache::get(const frame_form& form, event_type type,
                             const api::object_ptr& object) {
  const auto hash = reinterpret_cast<std::uintptr_t>(object.get()) / alignof(std::max_align_t) +
                    static_cast<std::size_t>(form.answer.as) * 7 +
                    static_cast<std::size_t>(form.answer.media) * 3;
  // A table shows ages.
  const auto second = form.answer.as == shape::table ? std::time(nullptr) : 0;
  auto& entry = entries_[hash % entries];
  const std::lock_guard lock{entry.mutex};
  if (entry.object == object && entry.type == type && entry.form == form && entry.second == second)
    return entry.frame;
  const shared_text frame{event_frame(form, type, object)};
  if (frame.size() <= cached_frame_bytes) {
    entry.form = form;
    entry.type = type;
    entry.object = object;
    entry.second = second;
    entry.frame = frame;
  }
  return frame;
}

}  // namespace troupe::server
