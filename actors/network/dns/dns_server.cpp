#include "actors/network/dns/dns_server.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "actors/core/metrics.hpp"
#include "actors/network/dns/dns_name.hpp"

namespace troupe::actors::dns {

namespace defaults = network_defaults;

namespace {

void count_response(const std::string& bytes) {
  constexpr std::size_t code_at = 3;  // its lower four bits
  if (bytes.size() > code_at)
    metrics_of_dns().responses[static_cast<unsigned char>(bytes[code_at]) & 15].fetch_add(
        1, std::memory_order_relaxed);
}

}  // namespace

struct dns_server::connection {
  runtime::unique_fd fd;
  std::string client;  // its address without the port
  std::string in, out;
  std::optional<event_loop::moment> idle;
};

// Buffers for messages received by one call, and answers sent by one call.
struct dns_server::datagrams {
  std::array<std::array<char, defaults::dns_question_bytes>, defaults::dns_batch> bytes;
  std::array<socket_address, defaults::dns_batch> peers;
  std::vector<std::pair<socket_address, std::string>> answers;
  bool collecting = false;
};

dns_server::dns_server(dns_server_options options, std::string domain)
    : domain_{std::move(domain)},
      batch_{std::make_unique<datagrams>()},
      forwarder_{std::make_unique<dns_forwarder>(loop_, std::move(options.resolvers))} {}

tl::expected<std::unique_ptr<dns_server>, std::string> dns_server::start(
    dns_server_options options) {
  const auto domain = to_wire(options.domain);
  if (!domain || domain->empty())
    return tl::make_unexpected(fmt::format("\"{}\" is not a domain name", options.domain));
  std::unique_ptr<dns_server> made{new dns_server{options, *domain}};
  if (auto opened = made->open(options); !opened) return tl::make_unexpected(opened.error());
  made->loop_.defer([server = made.get()] { server->serve_datagrams(); });
  made->loop_.defer([server = made.get()] { server->serve_connections(); });
  return made;
}

tl::expected<void, std::string> dns_server::open(const dns_server_options& options) {
  auto at = make_address(options.address, options.port);
  if (!at) return tl::make_unexpected(at.error());
  // A port that is free for UDP may be in use for TCP: then try another.
  constexpr int attempts = 16;
  for (int attempt = 1;; ++attempt) {
    auto datagram = open_server(*at, SOCK_DGRAM);
    if (!datagram) return tl::make_unexpected("DNS: " + datagram.error());
    at_ = bound_address(datagram->get());
    auto listener = open_server(at_, SOCK_STREAM);
    if (listener) {
      datagram_ = std::move(*datagram);
      listener_ = std::move(*listener);
      return {};
    }
    if (options.port != 0 || attempt == attempts)
      return tl::make_unexpected("DNS: " + listener.error());
  }
}

dns_server::~dns_server() {
  loop_.stop();
  forwarder_.reset();
}

void dns_server::table(table_ptr now) {
  const std::lock_guard guard{mutex_};
  table_.swap(now);
}

table_ptr dns_server::table() const {
  const std::lock_guard guard{mutex_};
  return table_;
}

void dns_server::respond(std::string_view bytes, bool stream, deliver done) {
  auto& counted = metrics_of_dns();
  (stream ? counted.stream_requests : counted.datagrams).fetch_add(1, std::memory_order_relaxed);
  auto asked = read_question(bytes);
  if (!asked) return done(std::move(asked.error()));
  const auto limit = stream ? defaults::dns_most_tcp_bytes : asked->udp_limit();
  auto known = answer_from(*table(), domain_, *asked, random_, limit);
  if (known.forward)
    return forward(std::move(*asked), std::move(known), stream, limit, std::move(done));
  done(std::move(known.bytes));
}

void dns_server::forward(question asked, answer known, bool stream, std::size_t limit_bytes,
                         deliver done) {
  auto wanted = asked;
  if (!known.aliases.empty()) {
    wanted.text = known.elsewhere + asked.text.substr(asked.name.size());
    wanted.name = known.elsewhere;
  }
  forwarder_->ask(std::move(wanted), stream,
                  [asked = std::move(asked), aliases = std::move(known.aliases), limit_bytes,
                   done = std::move(done)](const resolver_answer* found) {
                    if (found == nullptr)
                      return done(failure(asked, response_code::server_failure));
                    if (aliases.empty())
                      return done(forward_answer(found->bytes, asked, limit_bytes));
                    done(complete(asked, aliases, found->meaning, limit_bytes));
                  });
}

// -- UDP ------------------------------------------------------------------------------------------

void dns_server::serve_datagrams() {
  auto& b = *batch_;
  std::array<iovec, defaults::dns_batch> parts;
  std::array<mmsghdr, defaults::dns_batch> heads{};
  for (std::size_t i = 0; i < defaults::dns_batch; ++i) {
    parts[i] = {b.bytes[i].data(), b.bytes[i].size()};
    heads[i].msg_hdr.msg_name = &b.peers[i].storage;
    heads[i].msg_hdr.msg_namelen = sizeof b.peers[i].storage;
    heads[i].msg_hdr.msg_iov = &parts[i];
    heads[i].msg_hdr.msg_iovlen = 1;
  }
  const int count =
      ::recvmmsg(datagram_.get(), heads.data(), defaults::dns_batch, MSG_DONTWAIT, nullptr);
  b.collecting = true;
  for (std::size_t i = 0; count > 0 && i < static_cast<std::size_t>(count); ++i) {
    b.peers[i].size = heads[i].msg_hdr.msg_namelen;
    respond({b.bytes[i].data(), heads[i].msg_len}, false,
            [this, peer = b.peers[i]](std::string bytes) { send_to(peer, std::move(bytes)); });
  }
  b.collecting = false;
  send_collected();
  loop_.wait(datagram_.get(), event_loop::readiness::input, [this] { serve_datagrams(); });
}

// Answers are dropped if the socket's buffer is full: the client asks again.
void dns_server::send_to(const socket_address& peer, std::string bytes) {
  if (bytes.empty()) return;
  count_response(bytes);
  if (batch_->collecting)
    batch_->answers.emplace_back(peer, std::move(bytes));
  else
    ::sendto(datagram_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL, peer.get(), peer.size);
}

void dns_server::send_collected() {
  auto& answers = batch_->answers;
  std::array<iovec, defaults::dns_batch> parts;
  std::array<mmsghdr, defaults::dns_batch> heads{};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto& [peer, bytes] = answers[i];
    parts[i] = {bytes.data(), bytes.size()};
    heads[i].msg_hdr.msg_name = &peer.storage;
    heads[i].msg_hdr.msg_namelen = peer.size;
    heads[i].msg_hdr.msg_iov = &parts[i];
    heads[i].msg_hdr.msg_iovlen = 1;
  }
  if (!answers.empty())
    ::sendmmsg(datagram_.get(), heads.data(), static_cast<unsigned>(answers.size()), MSG_NOSIGNAL);
  answers.clear();
}

// -- TCP ------------------------------------------------------------------------------------------

void dns_server::serve_connections() {
  socket_address peer;
  peer.size = sizeof peer.storage;
  runtime::unique_fd fd{
      ::accept4(listener_.get(), peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (!fd && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
    return pause_connections(errno);
  if (fd) {
    accepting_ = true;
    const auto text = to_string(peer);
    open_connection(std::move(fd), text.substr(0, text.rfind(':')));
  }
  loop_.wait(listener_.get(), event_loop::readiness::input, [this] { serve_connections(); });
}

// A connection above a limit is closed at once.
void dns_server::open_connection(runtime::unique_fd fd, const std::string& client) {
  const auto others =
      std::count_if(connections_.begin(), connections_.end(),
                    [&](const auto& each) { return each.second->client == client; });
  if (connections_.size() >= defaults::dns_connections ||
      static_cast<std::size_t>(others) >= defaults::dns_connections_of_client)
    return;
  const auto c = std::make_shared<connection>();
  c->fd = std::move(fd);
  c->client = client;
  connections_[c->fd.get()] = c;
  expect(c, event_loop::readiness::input);
}

// The connection stays in the listener's queue, which would wake this thread again at once.
void dns_server::pause_connections(int error) {
  ++accept_pauses_;
  if (std::exchange(accepting_, false))
    spdlog::warn("network: DNS accepts no TCP connections for now: {}", std::strerror(error));
  loop_.after(defaults::dns_accept_pause, [this] { serve_connections(); });
}

// Waits until the connection is readable or writable, within the idle timeout.
void dns_server::expect(const connection_ptr& c, event_loop::readiness wanted) {
  if (!c->idle)
    c->idle = loop_.after(defaults::dns_idle, [this, c] {
      c->idle.reset();
      close(c);
    });
  loop_.wait(c->fd.get(), wanted, [this, c, wanted] {
    if (!c->fd) return;
    wanted == event_loop::readiness::input ? read(c) : write(c);
  });
}

void dns_server::read(const connection_ptr& c) {
  std::array<char, defaults::dns_question_bytes> part;
  const auto size = ::recv(c->fd.get(), part.data(), part.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return expect(c, event_loop::readiness::input);
  if (size <= 0) return close(c);
  c->in.append(part.data(), static_cast<std::size_t>(size));
  next_question(c);
}

// Handles one query at a time: later ones wait, and no more bytes are read until then.
void dns_server::next_question(const connection_ptr& c) {
  if (c->in.size() < 2) return expect(c, event_loop::readiness::input);
  const auto size = static_cast<std::size_t>(static_cast<unsigned char>(c->in[0])) << 8 |
                    static_cast<unsigned char>(c->in[1]);
  if (size > defaults::dns_question_bytes) return close(c);
  if (c->in.size() < size + 2) return expect(c, event_loop::readiness::input);
  const auto message = c->in.substr(2, size);
  c->in.erase(0, size + 2);
  if (c->idle) loop_.cancel(*c->idle);
  c->idle.reset();
  respond(message, true, [this, c](std::string bytes) {
    if (!c->fd) return;
    if (bytes.empty()) return close(c);
    count_response(bytes);
    c->out = with_size(bytes);
    write(c);
  });
}

void dns_server::write(const connection_ptr& c) {
  const auto sent = ::send(c->fd.get(), c->out.data(), c->out.size(), MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) return close(c);
  if (sent > 0) c->out.erase(0, static_cast<std::size_t>(sent));
  if (!c->out.empty()) return expect(c, event_loop::readiness::output);
  if (c->idle) loop_.cancel(*c->idle);
  c->idle.reset();
  // Not by recursion: a client may have sent thousands of queries.
  if (c->in.empty()) return expect(c, event_loop::readiness::input);
  loop_.defer([this, c] {
    if (c->fd) next_question(c);
  });
}

void dns_server::close(const connection_ptr& c) {
  if (!c->fd) return;
  if (c->idle) loop_.cancel(*c->idle);
  c->idle.reset();
  loop_.forget(c->fd.get());
  connections_.erase(c->fd.get());
  c->fd.reset();
}

}  // namespace troupe::actors::dns
