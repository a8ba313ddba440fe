#include <charconv>
#include <cstdint>
#include <utility>

#include "api/schema/meta_object.pb.h"
#include "api/v1beta1/v1beta1.hpp"
#include "server/connections/websocket.hpp"
#include "server/legacy/verbs.hpp"
#include "server/rest/watch/watch_session.hpp"

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
  legacy_form(legacy_call_ptr call, choice choice)
      : call_{std::move(call)}, choice_{std::move(choice)} {}

  actors::object_filter filter() const override {
    if (choice_.everything()) return {};
    return [choice = choice_, shape = call_->at.shape](const api::object& content) {
      return choice.matches(content, *shape);
    };
  }
  shared_text event(event_type type, const api::object_ptr& object) override {
    return shared_text{event_json(word_of(type), object_json(*object, *call_->at.shape))};
  }
  // 2014 knew no bookmarks, and the session is not asked for any.
  shared_text bookmark(std::uint64_t, bool) override { return shared_text{"\n"}; }
  shared_text error(const api::error& error) override {
    return shared_text{event_json("ERROR", failure_json(error, call_->words))};
  }

 protected:
  const legacy_call_ptr call_;

 private:
  const legacy::choice choice_;
};

class chunked final : public legacy_form {
 public:
  using legacy_form::legacy_form;

  void open(call&, std::function<void()> writable, std::function<void()> closed) override {
    response head;
    head.content_type = "application/json";
    out_ =
        call_->take_over().start_stream(std::move(head), {std::move(writable), std::move(closed)});
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
    out_ = websocket::accept(*call_->request, call_->take_over(), {}, std::move(events));
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
list_options options_of(const request& request) {
  list_options out;
  const auto text = request.query.get_or("resourceVersion", "0");
  std::uint64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  if (revision > 1) out.revision = revision - 1;
  return out;
}

}  // namespace

void watch_objects(const legacy_call_ptr& call) {
  auto filter = parse_choice(*call, true);
  if (!filter) return call->fail(filter.error());
  std::shared_ptr<watch_form> form;
  if (websocket::wanted(*call->request))
    form = std::make_shared<by_websocket>(call, std::move(*filter));
  else
    form = std::make_shared<chunked>(call, std::move(*filter));
  start_watch(call->today(), options_of(*call->request), std::move(form));
}

}  // namespace troupe::server::legacy
