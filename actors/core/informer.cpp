#include "actors/core/informer.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>

#include "runtime/actor_system.hpp"

namespace troupe::actors {

namespace {

// Unique in the process: messages to an earlier incarnation of a subscriber cannot be mistaken for
// those to the current one.
std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

struct informer::state {
  stream handle = 0;
  std::uint64_t id = 0;  // changes with each subscription at the watcher
  std::string prefix;
  on_events deliver;
  stream_options options;
  revision last = 0;           // 0 until the initial state is complete
  bool begun = false;          // part of the initial state was delivered
  bool synced = false;         // all of it was delivered
  std::uint32_t consumed = 0;  // credit to give back
};

informer::stream informer::follow(std::string prefix, on_events deliver, stream_options options) {
  auto s = std::make_shared<state>();
  s->handle = ++last_stream_;
  s->prefix = std::move(prefix);
  s->deliver = std::move(deliver);
  s->options = std::move(options);
  streams_.push_back(s);
  if (!heartbeat_.pending()) {
    heartbeat_ = every(defaults::stream_heartbeat, [this] { check_streams(); });
    check_after_restart();
  }
  subscribe_again(*s);
  return s->handle;
}

void informer::unfollow(stream handle) {
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [&](const auto& s) { return s->handle == handle; });
  if (found == streams_.end()) return;
  tell(watcher_, unsubscribe{(*found)->id});
  streams_.erase(found);
}

bool informer::synced() const noexcept {
  return std::all_of(streams_.begin(), streams_.end(), [](const auto& s) { return s->synced; });
}

// -- messages from the watcher --------------------------------------------------------------------

void informer::on_watch_events(const watch_events& m) {
  const auto found =
      std::find_if(streams_.begin(), streams_.end(), [&](const auto& s) { return s->id == m.id; });
  if (found == streams_.end()) {
    tell(watcher_, unsubscribe{m.id});
    return;
  }
  const auto s = *found;  // `deliver` may unfollow
  s->begun = true;
  s->synced = m.synced;
  s->last = std::max(s->last, m.up_to);
  s->consumed += static_cast<std::uint32_t>(m.events.size());
  s->deliver(m);
  if (s->consumed * 2 >= s->options.credit) give_credit(*s);
}

void informer::on_watch_ended(const watch_ended& m) {
  const auto found =
      std::find_if(streams_.begin(), streams_.end(), [&](const auto& s) { return s->id == m.id; });
  if (found == streams_.end()) return;
  auto& s = **found;
  if (s.begun && (!s.synced || m.reason.code == persistence::errc::compacted)) {
    stream_lost(s.prefix, m.reason);
  }
  subscribe_again(s);
}

void informer::stream_lost(const std::string& prefix, const persistence::error& reason) {
  throw std::runtime_error{"the stream of " + prefix + " was lost: " + reason.message};
}

void informer::stop_children_except(const std::string& kind,
                                    const std::function<bool(const std::string&)>& keep) {
  std::vector<std::string> left;
  system().actors().each([&](const runtime::actor_info& info) {
    if (info.parent == self().id() && info.kind == kind && !keep(info.name)) {
      left.push_back(info.name);
    }
  });
  std::sort(left.begin(), left.end());
  for (const auto& each : left) {
    if (const auto found = child(kind, each)) stop_child(found);
  }
}

void informer::subscribe_again(state& s) {
  s.id = next_id();
  s.consumed = 0;
  const bool taken = tell(watcher_, actors::subscribe{.id = s.id,
                                                      .prefix = s.prefix,
                                                      .accept = s.options.accept,
                                                      .on_node = s.options.on_node,
                                                      .after = s.last,
                                                      .credit = s.options.credit,
                                                      .bookmarks = s.options.bookmarks});
  if (!taken) schedule_check();
}

void informer::give_credit(state& s) {
  if (tell(watcher_, more{s.id, s.consumed}))
    s.consumed = 0;
  else
    schedule_check();
}

void informer::check_streams() {
  for (const auto& s : streams_)
    give_credit(*s);
}

// A restarted watcher answers that it knows no stream.
void informer::check_after_restart() {
  restarted_ = {*this, watcher_, [this] {
                  check_after_restart();
                  check_streams();
                }};
}

void informer::schedule_check() {
  if (!check_.pending()) check_ = after(defaults::try_again, [this] { check_streams(); });
}

}  // namespace troupe::actors
