#include "support/wire.hpp"

#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace troupe::test {

struct wire::tls_state {
  ~tls_state() {
    SSL_free(session);
    SSL_CTX_free(context);
  }
  SSL_CTX* context = nullptr;
  SSL* session = nullptr;
};

namespace {

[[noreturn]] void fail(const std::string& action) {
  std::string message = action;
  if (const auto code = ERR_get_error(); code != 0)
    message += std::string(": ") + ERR_reason_error_string(code);
  ERR_clear_error();
  throw std::runtime_error(message);
}

BIO* reader(const std::string& text) {
  return BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
}

X509* certificate(const std::string& pem) {
  BIO* in = reader(pem);
  X509* found = PEM_read_bio_X509(in, nullptr, nullptr, nullptr);
  BIO_free(in);
  if (found == nullptr) fail("not a certificate");
  return found;
}

void use_identity(SSL_CTX* context, const wire_options& options) {
  X509* own = certificate(options.certificate);
  BIO* in = reader(options.private_key);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(in, nullptr, nullptr, nullptr);
  BIO_free(in);
  const bool good =
      SSL_CTX_use_certificate(context, own) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1;
  X509_free(own);
  EVP_PKEY_free(key);
  if (!good) fail("the client's certificate is not usable");
}

}  // namespace

wire::wire(const wire_options& options) {
  ::signal(SIGPIPE, SIG_IGN);
  connect(options);
  if (options.tls) shake_hands(options);
}

wire::~wire() {
  tls_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
}

void wire::connect(const wire_options& options) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(options.host.c_str(), std::to_string(options.port).c_str(), &hints, &found) !=
      0)
    fail("not an address: " + options.host);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> address{found, ::freeaddrinfo};
  descriptor_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (options.receive_buffer_bytes > 0) {
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &options.receive_buffer_bytes,
                 sizeof options.receive_buffer_bytes);
  }
  timeval limit{};
  limit.tv_sec = options.timeout.count() / 1000;
  limit.tv_usec = options.timeout.count() % 1000 * 1000;
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  // Small writes must not wait for acknowledgements.
  const int on = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(descriptor_, found->ai_addr, found->ai_addrlen) != 0) fail("no connection");
}

void wire::shake_hands(const wire_options& options) {
  ERR_clear_error();
  tls_ = std::make_unique<tls_state>();
  tls_->context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_security_level(tls_->context, 0);  // allows to offer old versions
  SSL_CTX_set_min_proto_version(tls_->context, options.lowest_version);
  SSL_CTX_set_max_proto_version(tls_->context, options.highest_version);
  if (!options.authority.empty()) {
    X509* authority = certificate(options.authority);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls_->context), authority);
    X509_free(authority);
    SSL_CTX_set_verify(tls_->context, SSL_VERIFY_PEER, nullptr);
  }
  if (!options.certificate.empty()) use_identity(tls_->context, options);
  tls_->session = SSL_new(tls_->context);
  std::string offered;
  for (const auto& protocol : options.protocols)
    offered += static_cast<char>(protocol.size()) + protocol;
  SSL_set_alpn_protos(tls_->session, reinterpret_cast<const unsigned char*>(offered.data()),
                      static_cast<unsigned int>(offered.size()));
  if (!options.authority.empty())
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_->session), options.host.c_str());
  SSL_set_fd(tls_->session, descriptor_);
  if (SSL_connect(tls_->session) != 1) fail("no handshake");
}

bool wire::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ERR_clear_error();
    const auto sent = tls_ ? SSL_write(tls_->session, bytes.data(), static_cast<int>(bytes.size()))
                           : ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string wire::receive(std::size_t limit) {
  std::string bytes(limit, '\0');
  ERR_clear_error();
  errno = 0;
  const auto got = tls_ ? SSL_read(tls_->session, bytes.data(), static_cast<int>(limit))
                        : ::recv(descriptor_, bytes.data(), limit, 0);
  const bool timed_out = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  ended_ = ended_ || (got <= 0 && !timed_out);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

bool wire::has_input() {
  if (tls_ && SSL_pending(tls_->session) > 0) return true;
  pollfd poll_entry{descriptor_, POLLIN, 0};
  return ::poll(&poll_entry, 1, 0) > 0;
}

bool wire::wait_for_end() {
  while (!receive().empty()) {
  }
  return ended_;
}

void wire::end_sending() {
  if (tls_) SSL_shutdown(tls_->session);
  ::shutdown(descriptor_, SHUT_WR);
}

std::string wire::protocol() const {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  if (tls_) SSL_get0_alpn_selected(tls_->session, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::string wire::tls_version() const {
  return tls_ ? SSL_get_version(tls_->session) : "";
}

std::string wire::peer_certificate() const {
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(out, SSL_get0_peer_certificate(tls_->session));
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(out);
  return pem;
}

}  // namespace troupe::test
