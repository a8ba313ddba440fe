#include "server/connections/connection.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "server/access/authentication.hpp"
#include "server/connections/http1.hpp"
#include "server/connections/http2.hpp"
#include "server/credentials/tls_identity.hpp"
#include "server/http/status.hpp"

namespace troupe::server {
namespace {

std::shared_ptr<const connection_info> describe(std::string peer, std::uint64_t address,
                                                const site& site, bool secure,
                                                transport::peer_certificate certificate) {
  auto info = std::make_shared<connection_info>();
  info->peer = std::move(peer);
  info->address = address;
  info->local = site.local;
  info->secure = secure;
  if (!certificate.presented) return info;
  if (certificate.verify_error.empty() && !certificate.common_name.empty()) {
    info->certificate_user = user_of_certificate(std::move(certificate.common_name),
                                                 std::move(certificate.organizations));
    info->certificate_key_hash = std::move(certificate.key_hash);
  } else {
    info->certificate_error = certificate.verify_error.empty() ? "the subject has no common name"
                                                               : certificate.verify_error;
  }
  return info;
}

}  // namespace

connection::connection(io_worker& worker, accepted_socket socket, std::shared_ptr<const site> site)
    : worker_{worker},
      site_{std::move(site)},
      wire_{socket.descriptor,
            site_->identity == nullptr ? nullptr : site_->identity->context().get(),
            worker.buffers()},
      peer_{std::move(socket.peer)},
      address_{socket.address},
      since_{worker.loop().now()} {}

connection::~connection() = default;

void connection::start(int descriptor) {
  if (!worker_.loop().watch(descriptor, *this)) return close();
  // The first bytes have often arrived already; if not, epoll reports them later.
  on_events(EPOLLIN);
}

void connection::on_events(std::uint32_t events) {
  if (state_ == state::closed) return;
  if (events == 0) turn_due_ = false;
  wire_.begin_turn();
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) return close();
  const bool closing = (events & EPOLLRDHUP) != 0;
  if (closing || (events & EPOLLIN) != 0) {
    readable_ = true;
    wire_.readable(closing);
  }
  if ((events & EPOLLOUT) != 0) wire_.writable();
  if (state_ == state::lingering) return discard();
  if (state_ == state::shaking_hands) {
    shake_hands();
    if (state_ != state::open) return;
  }
  if (was_blocked_ && !wire_.blocked()) {
    was_blocked_ = false;
    protocol_->on_room();
  }
  if (closing) protocol_->on_peer_closing();
  proceed();
}

void connection::shake_hands() {
  switch (wire_.handshake()) {
    case transport::progress::again:
      readable_ = false;
      return;
    case transport::progress::failed:
      handshake_failed(wire_.handshake_problem());
      return linger();
    case transport::progress::done:
      break;
  }
  auto certificate = wire_.client_certificate();
  certificate_until_ = certificate.valid_until;
  info_ = describe(std::move(peer_), address_, *site_, wire_.secure(), std::move(certificate));
  if (!info_->certificate_error.empty())
    worker_.refused({.peer = info_->peer,
                     .address = address_,
                     .reason = "client certificate: " + info_->certificate_error});
  if (info_->certificate_user) assign_to_user(*info_->certificate_user);
  authenticated_ = !info_->secure || info_->certificate_user != nullptr;
  if (!authenticated_) wire_.send_at(defaults::unauthenticated_send_bytes);
  if (wire_.negotiated_http2()) {
    protocol_ = std::make_unique<http2>(*this);
  } else {
    protocol_ = std::make_unique<http1>(*this);
  }
  state_ = state::open;
  since_ = now();
  if (draining_) protocol_->drain();
}

void connection::handshake_failed(std::string_view reason) {
  ++worker_.counters().failed_handshakes;
  worker_.refused(
      {.peer = peer_, .address = address_, .reason = "TLS handshake: " + std::string{reason}});
}

void connection::refused(const request& request, const response& answer) {
  worker_.refused({.request = &request,
                   .peer = peer(),
                   .address = address_,
                   .code = answer.status,
                   .reason = reason_of(answer)});
}

// kubernetes: apiserver/pkg/authentication/request/x509 verifies the certificate of each request.
const std::shared_ptr<const connection_info>& connection::info() {
  const bool may_expire = certificate_until_ != 0 && info_->certificate_user;
  if (may_expire && std::time(nullptr) > certificate_until_) {
    auto expired = std::make_shared<connection_info>(*info_);
    expired->certificate_user = nullptr;
    expired->certificate_key_hash.clear();
    expired->certificate_error = "certificate has expired";
    info_ = std::move(expired);
  }
  return info_;
}

bool connection::idle() const {
  return protocol_ == nullptr || !protocol_->answering();
}

std::size_t connection::header_limit_bytes() const noexcept {
  const auto limit = worker_.options().header_limit_bytes;
  return authenticated_ ? limit : std::min(limit, defaults::unauthenticated_header_bytes);
}

bool connection::mark_authenticated(const request& request) {
  if (authenticated_ || request.user == nullptr || request.user == anonymous()) return false;
  authenticated_ = true;
  wire_.send_at(defaults::send_bytes);
  return true;
}

void connection::take_another_turn() {
  if (!std::exchange(turn_due_, true)) worker_.loop().defer(*this);
}

void connection::proceed() {
  // After this many reads the other connections have their turn.
  for (int turns = 8; state_ == state::open && readable_ && !wire_.blocked() &&
                      protocol_->wants_input() && !protocol_->finished();) {
    if (turns-- == 0) {
      take_another_turn();
      break;
    }
    const auto got = wire_.read(worker_.scratch(), worker_.scratch_size());
    if (got > 0) {
      protocol_->on_input({worker_.scratch(), static_cast<std::size_t>(got)});
    } else {
      readable_ = false;
      if (got < 0) protocol_->on_end();
    }
  }
  const bool was_full = wire_.blocked() || wire_.spent();
  wire_.flush();
  if (wire_.broken()) return close();
  if (wire_.blocked()) {
    if (!was_blocked_) since_ = now();
    was_blocked_ = true;
  } else if (was_full) {
    // The protocol stopped for lack of room, or at the end of its turn: it continues in the next
    // one.
    was_blocked_ = true;
    take_another_turn();
  } else if (protocol_->finished()) {
    linger();
  }
}

// Closing a socket with unread bytes resets it, and the peer may lose the last response. So first
// only our side is closed, and input is discarded for a while.
void connection::linger() {
  state_ = state::lingering;
  since_ = now();
  protocol_.reset();
  wire_.shut_down();
  discard();
  if (draining_) close();
}

void connection::discard() {
  for (;;) {
    const auto got = wire_.discard();
    if (got == 0) return;
    if (got > 0) discarded_bytes_ += static_cast<std::size_t>(got);
    if (got < 0 || discarded_bytes_ > defaults::linger_bytes) return close();
  }
}

bool connection::stalled() {
  if (!wire_.blocked()) return false;
  if (wire_.sent_bytes() != progress_) {
    progress_ = wire_.sent_bytes();
    since_ = now();
  }
  const auto limit =
      protocol_ == nullptr ? worker_.options().stall_timeout : protocol_->stall_limit();
  return now() - since_ > limit;
}

void connection::on_failure() noexcept {
  close();
}

void connection::on_tick() {
  const auto& options = worker_.options();
  const auto age = now() - since_;
  if (state_ == state::lingering) {
    if (age > defaults::linger_timeout) close();
    return;
  }
  const bool no_handshake = state_ == state::shaking_hands && age > options.handshake_timeout;
  if (no_handshake || stalled()) {
    if (no_handshake) handshake_failed("it took too long");
    count_time_out();
    return close();
  }
  if (state_ != state::open) return;
  protocol_->on_tick();
  proceed();
}

void connection::drain() {
  draining_ = true;
  if (state_ == state::shaking_hands || state_ == state::lingering) return close();
  if (state_ != state::open) return;
  protocol_->drain();
  proceed();
}

void connection::close() {
  if (state_ == state::closed) return;
  state_ = state::closed;
  protocol_.reset();
  worker_.buffers().plain.clear();
  worker_.buffers().outgoing.clear();
  worker_.loop().forget(wire_.descriptor());
  wire_.close();
  worker_.release(*this);
}

}  // namespace troupe::server
