#include "actors/network/dns/dns_forwarder.hpp"

#include <sys/random.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "actors/network/defaults.hpp"

namespace troupe::actors::dns {

struct dns_forwarder::pending {
  question asked;
  std::vector<socket_address> resolvers;
  bool stream = false;
  resolver_done done;
  int attempts = 0;
  std::uint16_t id = 0;
  runtime::unique_fd fd;
  std::optional<event_loop::moment> deadline;
  std::string out;  // unsent bytes of a TCP query
  std::string in;   // received bytes of a TCP answer
};

namespace {

std::uint16_t random_id() {
  std::uint16_t id = 0;
  // Without the kernel's entropy, which exists a second after boot, the port is still
  // random.
  if (::getrandom(&id, sizeof id, 0) != sizeof id) id = 1;
  return id;
}

}  // namespace

dns_forwarder::~dns_forwarder() {
  for (const auto& each : pending_)
    close(*each);
}

void dns_forwarder::ask(question asked, bool stream, resolver_done done) {
  if (pending_.size() >= network_defaults::dns_forwarded) return done(nullptr);
  auto resolvers = resolvers_();
  if (resolvers.empty()) return done(nullptr);
  const auto p = std::make_shared<pending>();
  p->asked = std::move(asked);
  p->resolvers = std::move(resolvers);
  p->stream = stream;
  p->done = std::move(done);
  pending_.insert(p);
  attempt(p);
}

void dns_forwarder::attempt(const pending_ptr& p) {
  const auto& to = p->resolvers[static_cast<std::size_t>(p->attempts) % p->resolvers.size()];
  ++p->attempts;
  p->id = random_id();
  p->in.clear();
  p->fd = open_client(to, p->stream ? SOCK_STREAM : SOCK_DGRAM);
  const auto message = write_question(p->asked, p->id);
  if (!p->fd) return next(p);
  if (!p->stream && ::send(p->fd.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0)
    return next(p);
  p->out = p->stream ? with_size(message) : std::string{};
  p->deadline = loop_.after(network_defaults::dns_resolver_limit, [this, p] {
    p->deadline.reset();
    next(p);
  });
  wait_for(p, p->stream ? event_loop::readiness::output : event_loop::readiness::input);
}

void dns_forwarder::next(const pending_ptr& p) {
  close(*p);
  if (p->attempts >= network_defaults::dns_resolver_attempts) return finish(p, nullptr);
  attempt(p);
}

void dns_forwarder::wait_for(const pending_ptr& p, event_loop::readiness wanted) {
  loop_.wait(p->fd.get(), wanted, [this, p] { ready(p); });
}

void dns_forwarder::ready(const pending_ptr& p) {
  if (!p->fd) return;
  while (!p->out.empty()) {
    const auto sent = ::send(p->fd.get(), p->out.data(), p->out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return wait_for(p, event_loop::readiness::output);
    if (sent < 0) return next(p);
    p->out.erase(0, static_cast<std::size_t>(sent));
  }
  if (receive(p)) wait_for(p, event_loop::readiness::input);
}

// Returns true if it must wait for more.
bool dns_forwarder::receive(const pending_ptr& p) {
  std::string part(network_defaults::dns_most_tcp_bytes + 2, '\0');
  const auto size = ::recv(p->fd.get(), part.data(), part.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (size < 0 || (p->stream && size == 0)) {
    next(p);  // refused, or closed
    return false;
  }
  part.resize(static_cast<std::size_t>(size));
  if (p->stream) {
    p->in += part;
    if (p->in.size() < 2) return true;
    const auto wanted = static_cast<std::size_t>(static_cast<unsigned char>(p->in[0])) << 8 |
                        static_cast<unsigned char>(p->in[1]);
    if (p->in.size() < wanted + 2) return true;
    part = p->in.substr(2, wanted);
  }
  auto read = read_answer(part, p->asked, p->id);
  if (!read) {
    // A UDP answer may be forged: wait for the real one.
    if (!p->stream) return true;
    next(p);
    return false;
  }
  const bool more = p->attempts < network_defaults::dns_resolver_attempts;
  if (read->code == response_code::server_failure && more && p->resolvers.size() > 1) {
    next(p);
    return false;
  }
  const resolver_answer answer{std::move(part), std::move(*read)};
  finish(p, &answer);
  return false;
}

void dns_forwarder::finish(const pending_ptr& p, const resolver_answer* answer) {
  const auto kept = p;
  close(*kept);
  pending_.erase(kept);
  std::exchange(kept->done, nullptr)(answer);
}

void dns_forwarder::close(pending& p) {
  if (p.deadline) loop_.cancel(*p.deadline);
  p.deadline.reset();
  if (p.fd) loop_.forget(p.fd.get());
  p.fd.reset();
}

}  // namespace troupe::actors::dns
