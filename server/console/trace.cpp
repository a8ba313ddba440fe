#include "server/console/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>

#include "runtime/actor.hpp"
#include "server/console/rendering.hpp"
#include "server/status.hpp"

namespace troupe::server {
namespace {

using runtime::trace_record;

struct trace_filter {
  std::uint64_t actor = 0;            // 0: any
  std::optional<object_name> object;  // its actors, and what its changes caused
  std::string type;                   // glob; empty: any
};

class trace : public runtime::actor {
 public:
  trace(console_context in, trace_filter filter, rendering form, responder answer)
      : in_{std::move(in)}, filter_{std::move(filter)}, form_{form}, answer_{std::move(answer)} {}
  ~trace() override { out_.close(); }

  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&trace::on_room, &trace::on_gone);
    return table;
  }

  void started() override {
    response head;
    head.content_type = form_ == rendering::text ? "text/plain; charset=utf-8" : "application/json";
    out_ = answer_.start_stream(std::move(head), {[me = self()] { me.tell(room{}); },
                                                  [me = self()] { me.tell(client_gone{}); }});
    cursor_ = home().recorder().newest();
    look_ = every(defaults::trace_period, [this] { look(); });
    limit_ = after(defaults::trace_limit, [this] { finish(); });
  }

  std::string describe() const override {
    return fmt::format("lines: {}\nlost: {}\nwritable: {}\n", lines_, lost_ + cursor_.lost,
                       writable_);
  }

 private:
  struct room {};
  struct client_gone {};

  void on_room(const room&) { writable_ = true; }
  void on_gone(const client_gone&) { finish(); }

  void finish() {
    out_.close();
    stop();
  }

  void look() {
    auto records = home().recorder().read(cursor_);
    note_revision();
    std::erase_if(records, [this](const trace_record& each) { return !wanted(each); });
    if (!writable_) {
      lost_ += records.size();
      return;
    }
    if (records.size() > defaults::trace_lines) {
      lost_ += records.size() - defaults::trace_lines;
      records.resize(defaults::trace_lines);
    }
    learn_names(records);
    std::string chunk;
    for (const auto& each : records)
      append(chunk, each);
    lines_ += records.size();
    if (const auto missed = lost_ + cursor_.lost; missed > told_) append_lost(chunk, missed);
    // An empty line says that the stream lives, when nothing else does.
    if (chunk.empty() && now() - written_at_ >= defaults::trace_heartbeat) chunk = "\n";
    if (chunk.empty()) return;
    written_at_ = now();
    writable_ = out_.write(std::move(chunk));
  }

  bool wanted(const trace_record& each) const {
    const auto me = self().id();
    if (each.receiver == me || each.sender == me) return false;
    if (!matches_glob(each.type, filter_.type)) return false;
    if (filter_.actor != 0) return each.receiver == filter_.actor || each.sender == filter_.actor;
    if (!filter_.object) return true;
    const auto has = [](const auto& list, auto what) {
      return std::find(list.begin(), list.end(), what) != list.end();
    };
    return has(actors_, each.receiver) || has(actors_, each.sender) ||
           (each.why.revision != 0 && has(revisions_, each.why.revision));
  }

  // The object's newest revision, and the actors that bear its name, as they come and go.
  void note_revision() {
    if (!filter_.object) return;
    if (const auto found = in_.truth().read().find(filter_.object->key())) {
      if (revisions_.empty() || revisions_.back() != found->revision())
        revisions_.push_back(found->revision());
      if (revisions_.size() > defaults::trace_revisions) revisions_.pop_front();
    }
    const auto& name = *filter_.object;
    const auto wanted_name = name.kind->namespaced() ? name.space + "/" + name.name : name.name;
    actors_.clear();
    for (const auto& each : in_.actors().called(wanted_name))
      actors_.push_back(each.id());
  }

  void learn_names(const std::vector<trace_record>& records) {
    if (names_.size() > defaults::trace_names) names_.clear();
    std::vector<std::uint64_t> unknown;
    for (const auto& each : records)
      for (const auto id : {each.receiver, each.sender})
        if (id != 0 && names_.count(id) == 0) unknown.push_back(id);
    for (auto& [id, name] : names_of(in_, unknown))
      names_.emplace(id, std::move(name));
  }

  std::string_view name_of(std::uint64_t id) const {
    return id == 0 ? "outside" : std::string_view{names_.at(id)};
  }

  void append(std::string& to, const trace_record& each) {
    const auto wall = in_.company.time().wall_now() - (now() - each.at);
    const auto at =
        time_text(std::chrono::time_point_cast<std::chrono::system_clock::duration>(wall));
    if (form_ == rendering::text) {
      const auto seconds = [](runtime::duration d) {
        return human_time(std::chrono::duration<double>{d}.count());
      };
      to += fmt::format("{} {} -> {} {}", at.substr(11, 15), name_of(each.sender),
                        name_of(each.receiver), each.type);
      if (each.why.revision != 0) to += fmt::format(" revision {}", each.why.revision);
      if (each.why.request != 0) to += " request " + request_text(each.why.request);
      to += fmt::format(" waited {} took {}\n", seconds(each.waited), seconds(each.took));
      return;
    }
    json_writer out;
    out.begin_object()
        .member("time", at)
        .member("from", name_of(each.sender))
        .member("to", name_of(each.receiver))
        .member("type", each.type)
        .member("revision", each.why.revision)
        .member("request", request_text(each.why.request))
        .member("waitedSeconds", each.waited)
        .member("tookSeconds", each.took)
        .end_object();
    to += out.text() + '\n';
  }

  void append_lost(std::string& to, std::uint64_t missed) {
    const auto fresh = missed - std::exchange(told_, missed);
    to += form_ == rendering::text ? fmt::format("({} messages were not shown)\n", fresh)
                                   : fmt::format("{{\"lost\":{}}}\n", fresh);
  }

  const console_context in_;
  const trace_filter filter_;
  const rendering form_;
  responder answer_;
  stream out_;
  runtime::trace_cursor cursor_;
  bool writable_ = true;
  runtime::time_point written_at_{};
  std::uint64_t lines_ = 0, lost_ = 0, told_ = 0;
  std::deque<persistence::revision> revisions_;
  std::vector<std::uint64_t> actors_;
  std::unordered_map<std::uint64_t, std::string> names_;
  runtime::timer look_, limit_;
};

api::expected<trace_filter> filter_of(const console_context& in, const query_string& query) {
  trace_filter made;
  made.type = query.get_or("type", "");
  if (const auto name = query.get("name")) {
    const auto found = find_actor(in, *name);
    if (!found) return api::fail(found.error());
    made.actor = found->id;
  }
  if (const auto text = query.get("object")) {
    auto object = parse_object_name(*text);
    if (!object) return api::fail(object.error());
    made.object = std::move(*object);
  }
  return made;
}

}  // namespace

void start_trace(const console_context& in, const request& what, const responder& answer) {
  auto filter = filter_of(in, what.query);
  if (!filter) return answer.respond(status_response(filter.error()));
  const auto form = parse_rendering(what.query.get_or("as", "json")).value_or(rendering::json);
  in.company.spawn({.kind = "trace", .name = request_text(what.id), .restart = false},
                   runtime::make<trace>(in, std::move(*filter), form, answer));
}

}  // namespace troupe::server
