#include <charconv>
#include <cstdint>
#include <utility>

#include "api/schema/meta_object.pb.h"
#include "api/v1beta1/v1beta1.hpp"
#include "server/legacy/verbs.hpp"
#include "server/rest/watch_session.hpp"
#include "server/websocket.hpp"

namespace troupe::server::legacy {
namespace {

using actors::event_type;

std::string_view word_of(event_type type) {
  if (type == event_type::added) return "ADDED";
  return type == event_type::deleted ? "DELETED" : "MODIFIED";
}

// The events of v1beta1; how they travel is up to the two below.
class legacy_form : public watch_form {
 public:
  legacy_form(legacy_call_ptr what, choice wanted)
      : what_{std::move(what)}, wanted_{std::move(wanted)} {}

  actors::object_filter filter() const override {
    if (wanted_.everything()) return {};
    return [wanted = wanted_, shape = what_->at.shape](const api::object& content) {
      return wanted.matches(content, *shape);
    };
  }
  shared_text event(event_type type, const api::object_ptr& object) override {
    return std::make_shared<const std::string>(
        event_json(word_of(type), object_json(*object, *what_->at.shape)));
  }
  // 2014 knew no bookmarks, and the session is not asked for any.
  shared_text bookmark(std::uint64_t, bool) override {
    return std::make_shared<const std::string>("\n");
  }
  shared_text error(const api::error& why) override {
    return std::make_shared<const std::string>(
        event_json("ERROR", failure_json(why, what_->words)));
  }

 protected:
  const legacy_call_ptr what_;

 private:
  const choice wanted_;
};

class chunked final : public legacy_form {
 public:
  using legacy_form::legacy_form;

  void open(call&, std::function<void()> writable, std::function<void()> closed) override {
    response head;
    head.content_type = "application/json";
    out_ =
        what_->take_over().start_stream(std::move(head), {std::move(writable), std::move(closed)});
  }
  bool write(std::string_view part, const shared_text& frame) override {
    return out_.write(part, frame);
  }
  void close() override { out_.close(); }

 private:
  stream out_;
};

// A message for each event.
class by_websocket final : public legacy_form {
 public:
  using legacy_form::legacy_form;

  void open(call&, std::function<void()> writable, std::function<void()> closed) override {
    websocket_events events;
    events.writable = std::move(writable);
    events.closed = closed;
    out_ = websocket::accept(*what_->what, what_->take_over(), {}, std::move(events));
    if (!out_.open()) closed();
  }
  bool write(std::string_view, const shared_text& frame) override {
    return out_.send(frame, false);
  }
  void close() override { out_.close(); }
  std::size_t part_bytes() const override { return SIZE_MAX; }

 private:
  websocket out_;
};

// From revision 0 or none the present state comes first. Clients of v0.2 name the first revision
// that they want to see, later ones the last that they have seen: an event that comes twice harms
// nobody, one that is left out does.
list_options options_of(const request& what) {
  list_options out;
  const auto text = what.query.get_or("resourceVersion", "0");
  std::uint64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  if (revision > 1) out.revision = revision - 1;
  return out;
}

}  // namespace

void watch_objects(const legacy_call_ptr& what) {
  auto wanted = parse_choice(*what, true);
  if (!wanted) return what->fail(wanted.error());
  std::shared_ptr<watch_form> form;
  if (websocket::wanted(*what->what))
    form = std::make_shared<by_websocket>(what, std::move(*wanted));
  else
    form = std::make_shared<chunked>(what, std::move(*wanted));
  start_watch(what->today(), options_of(*what->what), std::move(form));
}

}  // namespace troupe::server::legacy
