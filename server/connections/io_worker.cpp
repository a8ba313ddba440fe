#include "server/connections/io_worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "server/access/authentication.hpp"
#include "server/connections/connection.hpp"
#include "server/connections/listener.hpp"

namespace troupe::server {
namespace {

// A tick short enough for the shortest time-out.
std::chrono::milliseconds tick_for(const http_options& options) {
  const auto shortest =
      std::min({options.handshake_timeout, options.header_timeout, options.request_timeout,
                options.idle_timeout, options.stall_timeout});
  using std::chrono::milliseconds;
  return std::clamp(shortest / 8, milliseconds{5}, milliseconds{500});
}

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  const auto size = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text, size};
}

struct leaving {
  std::atomic<std::size_t>& count;
  std::size_t by;
  ~leaving() { count.fetch_sub(by, std::memory_order_relaxed); }
};

// Ids of different threads and starts do not collide: the upper bits are random.
std::uint64_t first_id() {
  std::random_device random;
  return (static_cast<std::uint64_t>(random()) << 32) | (random() & 0xff000000U);
}

}  // namespace

io_worker::io_worker(std::size_t index, const http_options& options, http_counters& counters)
    : index_{index},
      options_{options},
      counters_{counters},
      loop_{tick_for(options)},
      scratch_(defaults::record_bytes, '\0'),
      date_{http_date()},
      next_id_{first_id()} {
  loop_.start(
      "troupe-http-" + std::to_string(index), [this] { tick(); }, [this] { close_all(); });
}

io_worker::~io_worker() {
  stop();
}

void io_worker::stop() {
  loop_.stop();
}

std::uint64_t io_worker::next_request_id() noexcept {
  return ++next_id_;
}

void io_worker::adopt(accepted_socket socket, std::shared_ptr<const site> site, bool full) {
  load_.fetch_add(1, std::memory_order_relaxed);
  const std::size_t unauthenticated = site->in_file_system ? 0 : 1;
  coming_.fetch_add(unauthenticated, std::memory_order_relaxed);
  loop_.queue()->post(
      [this, socket = std::move(socket), site = std::move(site), full, unauthenticated] {
        // Counted here until it is among the unauthenticated connections, or has failed.
        const leaving counted{coming_, unauthenticated};
        open(socket, site, full);
      });
}

bool io_worker::add_listener(std::unique_ptr<listener> made) {
  std::promise<bool> watched;
  loop_.queue()->post([this, &made, &watched] {
    const bool good = loop_.watch(made->descriptor(), *made);
    if (good) listeners_.push_back(std::move(made));
    watched.set_value(good);
  });
  return watched.get_future().get();
}

void io_worker::drop_listeners() {
  for (auto& each : listeners_) {
    loop_.forget(each->descriptor());
    loop_.destroy_later(std::move(each));  // its turn may be due
  }
  listeners_.clear();
}

void io_worker::close_listeners() {
  std::promise<void> closed;
  loop_.queue()->post([this, &closed] {
    drop_listeners();
    closed.set_value();
  });
  closed.get_future().wait();
}

void io_worker::open(accepted_socket socket, std::shared_ptr<const site> site, bool full) {
  const auto address = socket.address;
  const auto descriptor = socket.descriptor;
  const bool unauthenticated = !site->in_file_system;
  bool room = true;
  std::unique_ptr<connection> made;
  try {
    room = unauthenticated || full ? make_room(address, full) : true;
    if (connections_.size() == connections_.capacity())
      connections_.reserve(2 * connections_.size() + 16);
    made = std::make_unique<connection>(*this, std::move(socket), std::move(site));
  } catch (...) {
    ::close(descriptor);
    load_.fetch_sub(1, std::memory_order_relaxed);
    counters_.connections.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
  made->index = connections_.size();
  auto& opened = *made;
  connections_.push_back(std::move(made));
  try {
    if (unauthenticated) unauthenticated_.add(opened, address);
    if (!room) {
      counters_.refused.fetch_add(1, std::memory_order_relaxed);
      return opened.close();
    }
    opened.start(descriptor);
    if (draining_) opened.drain();
  } catch (...) {
    opened.on_failure();
    throw;
  }
}

// Returns false if no connection can be closed.
bool io_worker::make_room(std::uint64_t address, bool full) {
  const auto share = [this](std::size_t of_all) {
    return std::max<std::size_t>(1, of_all / std::max<std::size_t>(1, options_.io_threads));
  };
  if (address != 0 &&
      unauthenticated_.count_of(address) >= share(options_.unauthenticated_per_address)) {
    shed(*unauthenticated_.first_of(address));
    return true;
  }
  const auto limit = share(options_.connections / defaults::unauthenticated_part);
  if (!full && unauthenticated_.size() < limit) return true;
  auto* const first = unauthenticated_.first();
  if (first != nullptr) shed(*first);
  return first != nullptr || !full;
}

void io_worker::shed(connection& connection) {
  counters_.shed.fetch_add(1, std::memory_order_relaxed);
  refused(
      {.peer = connection.peer(), .address = connection.address(), .reason = "TooManyConnections"});
  connection.close();
}

bool io_worker::assign_to_user(connection& connection, const user_info& user) {
  if (user.in_group(unauthenticated_group)) return false;
  const auto key = key_counts::key_of(user.name);
  const auto authenticated = counters_.authenticated.load(std::memory_order_relaxed);
  const auto free = options_.connections > authenticated ? options_.connections - authenticated : 0;
  if (!user.in_group(masters_group) && counters_.authenticated_of_user.of(key) >= free)
    return false;
  counters_.authenticated.fetch_add(1, std::memory_order_relaxed);
  counters_.authenticated_of_user.add(key, 1);
  unauthenticated_.remove(connection, connection.address());
  connection.user_key = key;
  return true;
}

void io_worker::refused(const refusal& refusal) {
  counters_.refusals.add(refusal, loop_.now());
  if (options_.observe_refusal) options_.observe_refusal(refusal);
}

void io_worker::release(connection& ended) {
  if (ended.unauthenticated_number != 0) unauthenticated_.remove(ended, ended.address());
  if (ended.user_key) {
    counters_.authenticated.fetch_sub(1, std::memory_order_relaxed);
    counters_.authenticated_of_user.subtract(*ended.user_key, 1);
  }
  const auto at = ended.index;
  auto& last = connections_.back();
  last->index = at;
  std::swap(connections_[at], last);
  loop_.destroy_later(std::move(last));
  connections_.pop_back();
  load_.fetch_sub(1, std::memory_order_relaxed);
  counters_.connections.fetch_sub(1, std::memory_order_relaxed);
  notify_when_empty();
}

void io_worker::tick() {
  date_ = http_date();
  if (index_ == 0) counters_.refusals.flush(loop_.now());
  for (const auto& each : listeners_)
    each->on_tick();
  // Backwards: a connection that ends is replaced by the last one, which has had its tick.
  for (auto i = connections_.size(); i-- > 0;)
    connections_[i]->on_tick();
}

std::future<void> io_worker::drain() {
  auto done = drained_.get_future();
  loop_.queue()->post([this] {
    draining_ = true;
    for (auto i = connections_.size(); i-- > 0;)
      connections_[i]->drain();
    if (connections_.empty()) notify_when_empty();
  });
  return done;
}

void io_worker::notify_when_empty() {
  if (!draining_ || !connections_.empty()) return;
  draining_ = false;
  drained_.set_value();
}

void io_worker::close_all() {
  draining_ = false;
  drop_listeners();
  while (!connections_.empty())
    connections_.back()->close();
}

}  // namespace troupe::server
