#include <charconv>
#include <cstdint>
#include <utility>

#include "api/schema/meta_object.pb.h"
#include "api/v1beta1/v1beta1.hpp"
#include "server/http/upgrade.hpp"
#include "server/legacy/verbs.hpp"
#include "server/rest/watch/watch_session.hpp"
#include "server/streams/answer_stream.hpp"

namespace troupe::server::legacy {
namespace {

using actors::event_type;

std::string_view word_of(event_type type) {
  if (type == event_type::added) return "ADDED";
  return type == event_type::deleted ? "DELETED" : "MODIFIED";
}

// The watch events of v1beta1.
class legacy_form final : public watch_form {
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
  // 2014 had no bookmarks, and the session does not request any.
  shared_text bookmark(std::uint64_t, bool) override { return shared_text{"\n"}; }
  shared_text error(const api::error& error) override {
    return shared_text{event_json("ERROR", failure_json(error, call_->words))};
  }

  void open(call&, std::function<void()> writable, std::function<void()> closed) override {
    response head;
    head.content_type = "application/json";
    out_ = answer_stream::open(*call_->request, call_->take_over(), std::move(head),
                               offered_protocols(call_->request->headers),
                               {std::move(writable), std::move(closed)});
  }
  bool write(std::string_view part, const shared_text& frame) override {
    return out_.write(part, frame, false);
  }
  void close() override { out_.close(); }
  std::size_t part_bytes() const override {
    return out_.by_messages() ? SIZE_MAX : watch_form::part_bytes();
  }

 private:
  const legacy_call_ptr call_;
  const legacy::choice choice_;
  answer_stream out_;
};

// Without a revision, or with 0, the current state comes first. Clients of v0.2 send the first
// revision that they want, later ones the last that they have seen: a duplicate event does no harm,
// a missing one does.
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
  auto form = std::make_shared<legacy_form>(call, std::move(*filter));
  start_watch(call->today(), options_of(*call->request), std::move(form));
}

}  // namespace troupe::server::legacy
