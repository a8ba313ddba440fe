#include "server/connections/transport.hpp"

#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "server/credentials/openssl.hpp"
#include "server/defaults.hpp"

namespace troupe::server {

// OpenSSL's view of a transport. OpenSSL's own socket BIO makes a system call for each record; ours
// gathers records and never returns "try again" for a write.
struct transport_bio {
  static transport& self(BIO* bio) { return *static_cast<transport*>(BIO_get_data(bio)); }

  static int write(BIO* bio, const char* data, std::size_t size, std::size_t* written) {
    auto& to = self(bio);
    BIO_clear_retry_flags(bio);
    // A peer that causes replies (key updates) without reading them.
    if (to.waiting_.size() > 2 * defaults::send_bytes) return 0;
    to.buffers_.outgoing.append(data, size);
    *written = size;
    return 1;
  }

  static int read(BIO* bio, char* into, std::size_t size, std::size_t* count) {
    BIO_clear_retry_flags(bio);
    const auto got = self(bio).receive(into, size);
    *count = got > 0 ? static_cast<std::size_t>(got) : 0;
    if (got == 0) BIO_set_retry_read(bio);
    return got > 0 ? 1 : 0;
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static const BIO_METHOD* method() {
    static BIO_METHOD* const made = [] {
      auto* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "troupe transport");
      BIO_meth_set_write_ex(m, write);
      BIO_meth_set_read_ex(m, read);
      BIO_meth_set_ctrl(m, control);
      return m;
    }();
    return made;
  }
};

transport::transport(int descriptor, ssl_ctx_st* context, io_buffers& buffers)
    : descriptor_{descriptor}, buffers_{buffers} {
  if (context == nullptr) return;
  openssl::clear_errors();
  ssl_ = SSL_new(context);
  BIO* bio = BIO_new(transport_bio::method());
  if (ssl_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    broken_ = true;
    return;
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_accept_state(ssl_);
}

transport::~transport() {
  close();
}

void transport::close() {
  broken_ = true;
  SSL_free(ssl_);
  ssl_ = nullptr;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void transport::readable(bool peer_closed) noexcept {
  drained_ = false;
  peer_closed_ = peer_closed_ || peer_closed;
}

std::ptrdiff_t transport::receive(char* into, std::size_t size) {
  if (drained_) return 0;
  ssize_t got = 0;
  do {
    got = ::recv(descriptor_, into, size, 0);
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    // A short read means that the socket is empty, and the next byte causes a new event; except
    // before the end of the stream.
    drained_ = static_cast<std::size_t>(got) < size && !peer_closed_;
    return got;
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    drained_ = true;
    return 0;
  }
  broken_ = broken_ || got < 0;
  return -1;
}

transport::progress transport::handshake() {
  if (broken_) return progress::failed;
  if (ssl_ == nullptr) return progress::done;
  openssl::clear_errors();
  const int result = SSL_do_handshake(ssl_);
  const int code = result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_, result);
  if (code == SSL_ERROR_SSL) {
    const char* reason = ERR_reason_error_string(ERR_peek_error());
    problem_ = reason == nullptr ? "it is not TLS" : reason;
  }
  if (code == SSL_ERROR_SSL && ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST) {
    buffers_.outgoing =
        "HTTP/1.0 400 Bad Request\r\ncontent-type: text/plain\r\n\r\n"
        "Client sent an HTTP request to an HTTPS server.\n";
  }
  send_outgoing();
  if (code == SSL_ERROR_NONE) return progress::done;
  openssl::clear_errors();
  return code == SSL_ERROR_WANT_READ && !broken_ ? progress::again : progress::failed;
}

bool transport::negotiated_http2() const noexcept {
  if (ssl_ == nullptr) return false;
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

transport::peer_certificate transport::client_certificate() const {
  peer_certificate found;
  X509* certificate = ssl_ == nullptr ? nullptr : SSL_get0_peer_certificate(ssl_);
  if (certificate == nullptr) return found;
  found.presented = true;
  if (const long code = SSL_get_verify_result(ssl_); code != X509_V_OK)
    found.verify_error = X509_verify_cert_error_string(code);
  const X509_NAME* subject = X509_get_subject_name(certificate);
  found.common_name = openssl::last_entry(subject, NID_commonName);
  found.organizations = openssl::entries(subject, NID_organizationName);
  found.key_hash = openssl::key_hash(X509_get_X509_PUBKEY(certificate));
  found.valid_until = openssl::seconds_of(X509_get0_notAfter(certificate));
  return found;
}

std::ptrdiff_t transport::read(char* into, std::size_t size) {
  if (broken_) return -1;
  if (ssl_ == nullptr) return receive(into, size);
  // OpenSSL has nothing left, and neither has the socket.
  if (drained_ && SSL_has_pending(ssl_) == 0) return 0;
  openssl::clear_errors();
  std::size_t got = 0;
  const int result = SSL_read_ex(ssl_, into, size, &got);
  const int code = result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_, result);
  if (!buffers_.outgoing.empty()) send_outgoing();  // a reply to a key update
  if (code == SSL_ERROR_NONE) return static_cast<std::ptrdiff_t>(got);
  openssl::clear_errors();
  if (code == SSL_ERROR_WANT_READ && !broken_) return 0;
  broken_ = broken_ || code == SSL_ERROR_SSL;
  return -1;
}

bool transport::spent() const noexcept {
  return turn_bytes_ >= defaults::turn_bytes;
}

void transport::write(std::string_view text) {
  turn_bytes_ += text.size();
  auto& plain = buffers_.plain;
  // A record is written as a whole, so it must not exceed the bytes that may wait.
  const auto record = std::min(defaults::record_bytes, send_most_);
  while (!text.empty() && !broken_) {
    if (plain.empty() && text.size() >= record) {
      encrypt(text.substr(0, record));
      text.remove_prefix(record);
      continue;
    }
    const auto room = std::min(text.size(), record - plain.size());
    plain.append(text.substr(0, room));
    text.remove_prefix(room);
    if (plain.size() == record) {
      encrypt(plain);
      plain.clear();
    }
  }
}

void transport::encrypt(std::string_view text) {
  if (ssl_ == nullptr) {
    buffers_.outgoing.append(text);
  } else {
    openssl::clear_errors();
    std::size_t written = 0;
    if (SSL_write_ex(ssl_, text.data(), text.size(), &written) != 1 || written != text.size()) {
      openssl::clear_errors();
      broken_ = true;
    }
  }
  if (buffers_.outgoing.size() >= send_bytes_) send_outgoing();
}

void transport::flush() {
  if (!buffers_.plain.empty() && !broken_) encrypt(buffers_.plain);
  buffers_.plain.clear();
  send_outgoing();
}

void transport::send_outgoing() {
  auto& outgoing = buffers_.outgoing;
  if (!waiting_.empty() && !outgoing.empty()) {
    waiting_.append(outgoing);
    outgoing.clear();
  }
  std::string_view rest = waiting_.empty() ? outgoing : waiting_;
  const auto all = rest.size();
  while (!rest.empty() && !broken_) {
    const ssize_t sent = ::send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      broken_ = true;
    }
  }
  sent_bytes_ += all - rest.size();
  // For a slow peer little waits; for a fast one the size grows to the full one in three calls.
  if (!rest.empty()) {
    send_bytes_ = std::min(send_most_, defaults::blocked_send_bytes);
  } else if (all >= send_bytes_) {
    send_bytes_ = std::min(send_most_, 2 * send_bytes_);
  }
  if (broken_) rest = {};
  if (waiting_.empty()) {
    waiting_.assign(rest);
  } else if (rest.empty()) {
    std::string{}.swap(waiting_);  // frees the memory
  } else {
    waiting_.erase(0, waiting_.size() - rest.size());
  }
  outgoing.clear();
}

void transport::writable() {
  if (!waiting_.empty()) send_outgoing();
}

void transport::shut_down() {
  if (ssl_ != nullptr && !broken_ && SSL_is_init_finished(ssl_)) {
    openssl::clear_errors();
    SSL_shutdown(ssl_);
    openssl::clear_errors();
    send_outgoing();
  }
  ::shutdown(descriptor_, SHUT_WR);
}

std::ptrdiff_t transport::discard() {
  std::array<char, 16384> scratch;
  return receive(scratch.data(), scratch.size());
}

}  // namespace troupe::server
