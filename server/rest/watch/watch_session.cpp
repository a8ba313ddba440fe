#include "server/rest/watch/watch_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "api/kind_row.hpp"
#include "runtime/actor_system.hpp"
#include "server/rest/defaults.hpp"

namespace troupe::server {

using actors::event_type;

namespace {

// A watch of one object subscribes to its key only.
std::string prefix_of(const call& call, const list_options& options) {
  const auto& kind = call.kind();
  const auto name = !call.route.name.empty() ? std::optional{call.route.name}
                                             : options.fields.exact("metadata.name");
  const bool one = name && !name->empty() && name->find('/') == std::string_view::npos &&
                   (!kind.namespaced() || !call.route.ns.empty());
  return one ? kind.key(call.route.ns, *name) : kind.prefix(call.route.ns);
}

// The node to which the watch is restricted; empty: not restricted.
std::string node_of(const call& call, const list_options& options) {
  const auto& row = call.kind().row();
  if (row.node == nullptr) return {};
  return std::string{options.fields.exact(row.node_field).value_or("")};
}

// A copy of the object with another revision.
api::object_ptr at_revision(const api::object_ptr& object, std::uint64_t revision) {
  if (!object->stored().empty())
    return api::object::encoded(object->kind(), object->stored(), revision, object);
  return std::make_shared<const api::object>(object->kind(), object->copy(), revision);
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

void start_watch(const call_ptr& call, list_options options) {
  auto form = rest_watch_form(*call, options);
  start_watch(call, std::move(options), std::move(form));
}

void start_watch(const call_ptr& call, list_options options, std::shared_ptr<watch_form> form) {
  auto& system = call->services.plane.system();
  const auto name = fmt::format("{:016x} {}", call->request->id, call->request->path);
  system.spawn({.kind = "watch", .name = name, .restart = false},
               runtime::make<watch_session>(call, std::move(options), std::move(form)));
}

watch_session::watch_session(call_ptr call, list_options options, std::shared_ptr<watch_form> form)
    : call_{std::move(call)},
      options_{std::move(options)},
      watcher_{call_->services.plane.core_actors().watcher},
      form_{std::move(form)} {}

watch_session::~watch_session() {
  form_->close();
}

const runtime::behavior& watch_session::make_behavior() const {
  static const auto table =
      runtime::handlers(&watch_session::on_watch_events, &watch_session::on_watch_ended,
                        &watch_session::on_room, &watch_session::on_client_gone);
  return table;
}

void watch_session::started() {
  form_->open(
      *call_, [me = self()] { me.tell(room{}); }, [me = self()] { me.tell(client_gone{}); });
  // Without a revision, or with 0, the current state comes first, unless the client requests no
  // initial events: it then begins at the current revision.
  const auto from = options_.revision.value_or(0);
  initial_ = options_.initial_events.value_or(from == 0);
  received_ = initial_ ? 0 : from;
  if (!initial_ && received_ == 0) received_ = call_->services.read().at();
  subscribe();
  heartbeat_ = every(defaults::watch_heartbeat, [this] {
    // No event follows: the client lists again, at a control plane that serves.
    if (const auto refused = call_->services.plane.store().refusal())
      return fail(api::expired(refused->message));
    give_credit(0);
  });
  runtime::duration limit = defaults::watch_timeout;
  limit +=
      runtime::duration{std::uniform_int_distribution<std::int64_t>{0, limit.count()}(random())};
  if (options_.timeout && options_.timeout->count() > 0) limit = *options_.timeout;
  deadline_ = after(limit, [this] { on_timeout(); });
}

std::string watch_session::describe() const {
  return fmt::format("path: {}\nuser: {}\nreceived: {}\nsent: {}\nwaiting: {}\nwritable: {}\n",
                     call_->request->path, call_->request->user ? call_->request->user->name : "",
                     received_, sent_, waiting_.size(), writable_);
}

void watch_session::subscribe() {
  id_ = next_id();
  consumed_ = 0;
  tell(watcher_, actors::subscribe{.id = id_,
                                   .prefix = prefix_of(*call_, options_),
                                   .accept = form_->filter(),
                                   .on_node = node_of(*call_, options_),
                                   .after = received_,
                                   .credit = defaults::watch_credit,
                                   .bookmarks = options_.bookmarks});
}

// -- messages from the watcher --------------------------------------------------------------------

void watch_session::on_watch_events(const actors::watch_events& m) {
  if (m.id != id_ || ending_) return;
  begun_ = true;
  received_ = std::max(received_, m.up_to);
  waiting_.push_back({m.events, initial_, initial_ && m.synced, m.up_to});
  if (m.synced) initial_ = false;
  send_waiting();
}

void watch_session::on_watch_ended(const actors::watch_ended& m) {
  if (m.id != id_ || ending_) return;
  if (m.reason.code == persistence::errc::compacted)
    return fail(api::expired(fmt::format("too old resource version: {} ({})", received_,
                                         call_->services.plane.store().stats().compacted)));
  // A partial initial state cannot be resumed; the client starts again.
  if (initial_ && begun_) return finish();
  subscribe();
}

// -- messages from the stream ---------------------------------------------------------------------

void watch_session::on_room(const room&) {
  writable_ = true;
  send_bytes();
  send_waiting();
}

void watch_session::on_client_gone(const client_gone&) {
  finish();
}

// -- sending --------------------------------------------------------------------------------------

void watch_session::send_waiting() {
  while (!waiting_.empty() && writable_) {
    auto& next = waiting_.front();
    if (next.again < next.again_end || next.next < next.events.size()) {
      send_next(next);
      continue;
    }
    const bool marks = next.ends_initial && options_.initial_events.value_or(false);
    const auto at = next.up_to;
    waiting_.pop_front();
    if (marks) write(form_->bookmark(at, true));
  }
  if (consumed_ > 0) give_credit(defaults::watch_credit / 2);
}

// One transaction may change several objects. A client that disconnects between their events
// resumes after the last revision that it has seen. So only the last event of a revision carries
// it; earlier ones carry the previous revision and are sent again afterwards with their own. An
// initial state is not resumed.
void watch_session::send_next(delivery& from) {
  if (from.again < from.again_end) {
    const auto& event = from.events[from.again++];
    if (event.type != event_type::deleted) write(form_->event(event_type::modified, event.object));
    return;
  }
  const auto& event = from.events[from.next++];
  const bool last = from.initial || from.next == from.events.size() ||
                    from.events[from.next].at != event.at ||
                    from.events[from.next].type == event_type::bookmark;
  send_event(event, !last);
  if (!last) return;
  from.again = from.initial ? from.next : from.first;
  from.again_end = from.next - 1;
  from.first = from.next;
}

void watch_session::send_event(const actors::watch_event& event, bool early) {
  ++consumed_;
  ++sent_;
  if (event.type == event_type::bookmark) return write(form_->bookmark(event.at, false));
  write(form_->event(event.type, early ? at_revision(event.object, event.at - 1) : event.object));
}

void watch_session::write(shared_text frame) {
  frame_ = std::move(frame);
  frame_at_ = 0;
  send_bytes();
}

// A frame may be larger than the stream accepts at once.
void watch_session::send_bytes() {
  while (frame_ && writable_) {
    const auto part = (*frame_).substr(frame_at_, form_->part_bytes());
    writable_ = form_->write(part, frame_);
    frame_at_ += part.size();
    if (frame_at_ == frame_.size()) frame_.reset();
  }
}

void watch_session::give_credit(std::uint32_t least) {
  if (consumed_ >= least && tell(watcher_, actors::more{id_, consumed_})) consumed_ = 0;
}

// -- the end --------------------------------------------------------------------------------------

// A last bookmark saves the client from reading known events again.
void watch_session::on_timeout() {
  if (!options_.bookmarks) return finish();
  tell(watcher_, actors::bookmark_now{id_});
  deadline_ = after(defaults::last_bookmark_wait, [this] { finish(); });
}

void watch_session::fail(const api::error& error) {
  if (!frame_) {
    const auto last = form_->error(error);
    form_->write(*last, last);
  }
  finish();
}

void watch_session::finish() {
  if (std::exchange(ending_, true)) return;
  tell(watcher_, actors::unsubscribe{id_});
  form_->close();
  stop();
}

}  // namespace troupe::server
