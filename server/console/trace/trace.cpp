#include "server/console/trace/trace.hpp"

#include <fmt/format.h>

#include "actors/core/informer.hpp"
#include "server/console/context/remote.hpp"
#include "server/console/output/rendering.hpp"
#include "server/console/trace/trace_reader.hpp"
#include "server/defaults.hpp"
#include "server/http/status.hpp"

namespace troupe::server {
namespace {

// Follows the changes of the traced object, if there is a store.
class trace : public actors::informer {
 public:
  trace(const console_context& context, std::optional<object_name> object, rendering form,
        responder answer, std::shared_ptr<trace_slots::slot> slot)
      : informer{context.plane ? context.plane->core_actors().watcher : runtime::actor_ref{}},
        object_{context.plane ? std::move(object) : std::nullopt},
        form_{form},
        answer_{std::move(answer)},
        slot_{std::move(slot)} {}
  ~trace() override { out_.close(); }

  void started() override {
    response head;
    head.content_type = form_ == rendering::text ? "text/plain; charset=utf-8" : "application/json";
    out_ = answer_.start_stream(std::move(head), {[me = self()] { me.tell(room{}); },
                                                  [me = self()] { me.tell(client_gone{}); }});
    slot_->on_eviction([me = self()] { me.tell(client_gone{}); });
    check_timer_ = every(defaults::trace_period, [this] { check(); });
    limit_ = after(defaults::trace_limit, [this] { finish(); });
    if (object_)
      changes_ = follow(object_->key(), [this](const actors::watch_events& m) { take_changes(m); });
  }

  std::string describe() const override {
    return fmt::format("lines: {}\nlost: {}\nwritable: {}\n", lines_, lost_, !stuck_);
  }

 protected:
  struct room {};
  struct client_gone {};

  virtual void check() = 0;
  // The object has changed.
  virtual void note_revision(persistence::revision at) = 0;

  void show(traced event) {
    lost_ += event.lost;
    if (is_stuck()) {
      lost_ += event.lines;
      return;
    }
    lines_ += event.lines;
    auto& chunk = event.text;
    if (lost_ > told_) append_lost(chunk);
    // Without other output an empty line shows that the stream is alive.
    if (chunk.empty() && now() - written_at_ >= defaults::trace_heartbeat) chunk = "\n";
    if (chunk.empty()) return;
    written_at_ = now();
    chunk.shrink_to_fit();  // it may wait: growing may have reserved as much again
    writable_ = out_.write(std::move(chunk));
  }

  void finish() {
    out_.close();
    unfollow(changes_);
    stop();
  }

  // Whether lines shown now would be lost.
  bool is_stuck() {
    note_stuck(!writable_ || out_.waiting_bytes() > defaults::trace_waiting_bytes);
    return stuck_;
  }

  rendering form() const noexcept { return form_; }
  void on_room(const room&) { writable_ = true; }
  void on_gone(const client_gone&) { finish(); }

 private:
  void note_stuck(bool is) {
    if (std::exchange(stuck_, is) == is) return;
    slot_->stuck_since(is ? std::optional{now()} : std::nullopt);
  }

  // The subscription's key is also the prefix of other keys.
  void take_changes(const actors::watch_events& m) {
    for (const auto& each : m.events)
      if (each.object && each.object->meta().name() == object_->name) note_revision(each.at);
  }

  void append_lost(std::string& to) {
    const auto fresh = lost_ - std::exchange(told_, lost_);
    to += form_ == rendering::text ? fmt::format("({} messages were not shown)\n", fresh)
                                   : fmt::format("{{\"lost\":{}}}\n", fresh);
  }

  const std::optional<object_name> object_;
  const rendering form_;
  responder answer_;
  server::stream out_;
  stream changes_ = 0;
  const std::shared_ptr<trace_slots::slot> slot_;
  bool writable_ = true;
  bool stuck_ = false;  // earlier output waits for the client
  runtime::time_point written_at_{};
  std::uint64_t lines_ = 0, lost_ = 0, told_ = 0;
  runtime::timer check_timer_, limit_;
};

// Traces this machine.
class near_trace final : public trace {
 public:
  near_trace(const console_context& context, trace_filter filter, rendering form, responder answer,
             std::shared_ptr<trace_slots::slot> slot)
      : trace{context, filter.object, form, std::move(answer), std::move(slot)},
        reader_{context, std::move(filter), form, context.system.recorder().newest()} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table =
        runtime::handlers(&near_trace::on_room, &near_trace::on_gone, &near_trace::on_watch_events,
                          &near_trace::on_watch_ended);
    return table;
  }

  void started() override {
    reader_.leave_out(self().id());
    reader_.delay_by_one_read();
    reader_.find_actors();
    trace::started();
  }

 private:
  void check() override { show(reader_.read(!is_stuck())); }
  void note_revision(persistence::revision at) override { reader_.note_revision(at); }

  trace_reader reader_;
};

// Traces another machine, page by page.
class far_trace final : public trace {
 public:
  far_trace(const console_context& context, std::optional<object_name> object, std::string node,
            std::string target, std::string after, rendering form, responder answer,
            std::shared_ptr<trace_slots::slot> slot)
      : trace{context, std::move(object), form, std::move(answer), std::move(slot)},
        others_{context.others},
        node_{std::move(node)},
        target_{std::move(target)},
        after_{std::move(after)} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table =
        runtime::handlers(&far_trace::on_page, &far_trace::on_room, &far_trace::on_gone,
                          &far_trace::on_watch_events, &far_trace::on_watch_ended);
    return table;
  }

 private:
  struct page {
    console_answer answer;
  };

  void check() override {
    if (std::exchange(asking_, true)) return;
    auto target =
        fmt::format("{}revisions={}&after={}", target_, fmt::join(revisions_, ","), after_);
    others_->ask(node_, {.target = std::move(target)}, defaults::remote_limit,
                 defaults::answer_bytes,
                 [me = self()](console_answer answer) { me.tell(page{std::move(answer)}); });
  }

  void note_revision(persistence::revision at) override {
    revisions_.push_back(at);
    if (revisions_.size() > defaults::trace_revisions) revisions_.pop_front();
  }

  void on_page(const page& m) {
    asking_ = false;
    auto read = m.answer.status == 200 ? parse_trace_page(m.answer.body) : std::nullopt;
    if (!read) {
      show({.text = form() == rendering::text
                        ? fmt::format("({} does not answer any more)\n", node_)
                        : "{\"ended\":true}\n",
            .lines = 1});
      return finish();
    }
    after_ = std::move(read->after);
    show(std::move(read->events));
  }

  const std::shared_ptr<other_nodes> others_;
  const std::string node_;
  const std::string target_;  // without its last parameters
  std::string after_;
  std::deque<persistence::revision> revisions_;
  bool asking_ = false;
};

rendering form_of(const query_string& query) {
  return parse_rendering(query.get_or("as", "json")).value_or(rendering::json);
}

template <class Trace, class... Args>
void spawn_trace(const console_context& context, const request& request, const responder& answer,
                 Args... args) {
  auto slot = context.traces->enter();
  if (!slot)
    return answer.respond(status_response(api::too_many_requests(
        fmt::format("{} traces are under way on {} and all of them are read: end one of them",
                    defaults::traces, context.node),
        defaults::retry_after_seconds)));
  context.system.spawn({.kind = "trace", .name = request_text(request.id), .restart = false},
                       runtime::make<Trace>(std::move(args)..., answer, std::move(slot)));
}

}  // namespace

void start_trace(const console_context& context, const request& request, const responder& answer) {
  auto filter = trace_filter_of(context, request.query);
  if (!filter) return answer.respond(status_response(filter.error()));
  spawn_trace<near_trace>(context, request, answer, context, std::move(*filter),
                          form_of(request.query));
}

void start_far_trace(const console_context& context, const std::string& node,
                     const request& request, std::string_view first_page, const responder& answer) {
  std::optional<object_name> object;
  if (const auto text = request.query.get("object")) {
    auto parsed = parse_object_name(*text);
    if (!parsed) return answer.respond(status_response(parsed.error()));
    object = std::move(*parsed);
  }
  auto first = parse_trace_page(first_page);
  if (!first)
    return answer.respond(status_response(
        502, "BadGateway", fmt::format("{} did not answer with a page of a trace", node)));
  auto target = target_of("trace", request.query);
  target += target.find('?') == target.npos ? '?' : '&';
  spawn_trace<far_trace>(context, request, answer, context, std::move(object), node,
                         std::move(target), std::move(first->after), form_of(request.query));
}

}  // namespace troupe::server
