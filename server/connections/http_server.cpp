#include "server/connections/http_server.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "server/connections/io_worker.hpp"
#include "server/connections/listener.hpp"
#include "server/connections/local_socket.hpp"

namespace troupe::server {
namespace {

// Raises the limit, and returns it.
std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < limit.rlim_max) {
    const auto before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  }
  return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t connection_limit(std::size_t requested) {
  const auto descriptors = raise_descriptor_limit();
  const auto reserved = std::min(defaults::reserved_descriptors, descriptors / 2);
  return std::min(requested, descriptors - reserved);
}

// Makes room for a few bodies of a larger configured size.
http_options with_room(http_options options) {
  auto& room = options.bodies;
  room.of_user = std::max(room.of_user, 4 * options.body_limit_bytes);
  room.of_address = std::max(room.of_address, 2 * room.of_user);
  room.in_all = std::max(room.in_all, 2 * room.of_address);
  options.connections = connection_limit(options.connections);
  return options;
}

}  // namespace

class http_server::impl {
 public:
  explicit impl(http_options settings) : options{with_room(std::move(settings))} {
    for (std::size_t i = 0; i < std::max<std::size_t>(1, options.io_threads); ++i)
      workers.push_back(std::make_unique<io_worker>(i, options, counters));
  }

  tl::expected<void, std::string> add(bound_socket socket, site listening_site) {
    const auto place = listening_site.local;
    auto made = std::make_unique<listener>(std::move(socket),
                                           std::make_shared<const site>(std::move(listening_site)),
                                           workers, options.connections, counters);
    if (workers.front()->add_listener(std::move(made))) return {};
    return tl::make_unexpected("cannot listen on " + place +
                               ": the kernel does not watch more descriptors");
  }

  const http_options options;
  http_counters counters{options};
  std::vector<std::unique_ptr<io_worker>> workers;
  bool stopped = false;
};

http_server::http_server(http_options options)
    : impl_{std::make_unique<impl>(std::move(options))} {}

http_server::~http_server() {
  stop();
}

tl::expected<endpoint, std::string> http_server::listen(const endpoint& endpoint, handler& target,
                                                        const tls_identity* identity) {
  auto socket = bind_socket(endpoint);
  if (!socket) return tl::make_unexpected(socket.error());
  const auto actual = socket->endpoint;
  const auto added = impl_->add(std::move(*socket), {target, identity, to_string(actual), false});
  if (!added) return tl::make_unexpected(added.error());
  return actual;
}

tl::expected<void, std::string> http_server::listen_locally(const std::filesystem::path& file,
                                                            handler& target) {
  const auto socket = listen_at(file);
  if (!socket) return tl::make_unexpected(socket.error());
  return impl_->add({runtime::unique_fd{*socket}, {}, file},
                    {target, nullptr, file.string(), true});
}

void http_server::stop() {
  if (std::exchange(impl_->stopped, true)) return;
  impl_->workers.front()->close_listeners();
  const auto until = std::chrono::steady_clock::now() + impl_->options.drain_timeout;
  std::vector<std::future<void>> drained;
  for (const auto& worker : impl_->workers)
    drained.push_back(worker->drain());
  for (const auto& done : drained)
    done.wait_until(until);
  for (const auto& worker : impl_->workers)
    worker->stop();
}

void http_server::note_refusal(const refusal& refusal) {
  impl_->counters.refusals.add(refusal, refusal_log::clock::now());
}

http_stats http_server::stats() const {
  const auto& c = impl_->counters;
  http_stats now;
  now.now_connections = c.connections;
  now.accepted = c.accepted;
  now.refused = c.refused;
  now.shed = c.shed;
  now.body_bytes = c.bodies->bytes();
  now.stream_bytes = c.streams->bytes();
  now.failed_handshakes = c.failed_handshakes;
  now.requests = c.requests;
  now.timed_out = c.timed_out;
  now.overrun_streams = c.overrun_streams;
  return now;
}

}  // namespace troupe::server
