#include "server/rest/proxy/tls_client.hpp"

#include <array>

#include "server/credentials/openssl.hpp"
#include "server/defaults.hpp"

namespace troupe::server {
namespace {

// One for all: it has no state of a connection.
SSL_CTX* context() {
  static const openssl::context_ptr made = [] {
    openssl::context_ptr out{SSL_CTX_new(TLS_client_method())};
    SSL_CTX_set_min_proto_version(out.get(), TLS1_2_VERSION);
    SSL_CTX_set_verify(out.get(), SSL_VERIFY_NONE, nullptr);
    return out;
  }();
  return made.get();
}

}  // namespace

struct tls_client::impl {
  openssl::session_ptr session;
  BIO* in = nullptr;  // both owned by the session
  BIO* out = nullptr;
};

tls_client::tls_client() : impl_{std::make_unique<impl>()} {
  impl_->session.reset(SSL_new(context()));
  impl_->in = BIO_new(BIO_s_mem());
  impl_->out = BIO_new(BIO_s_mem());
  SSL_set_bio(impl_->session.get(), impl_->in, impl_->out);
  SSL_set_connect_state(impl_->session.get());
  SSL_do_handshake(impl_->session.get());
}

tls_client::~tls_client() = default;

bool tls_client::ready() const noexcept {
  return SSL_is_init_finished(impl_->session.get()) != 0;
}

tls_client::received tls_client::receive(std::string_view encrypted) {
  received out;
  auto* session = impl_->session.get();
  ERR_clear_error();
  BIO_write(impl_->in, encrypted.data(), static_cast<int>(encrypted.size()));
  std::array<char, defaults::record_bytes> part;
  for (;;) {
    std::size_t got = 0;
    const int result = SSL_read_ex(session, part.data(), part.size(), &got);
    if (result == 1) {
      out.plain.append(part.data(), got);
      continue;
    }
    const int error = SSL_get_error(session, result);
    if (error == SSL_ERROR_ZERO_RETURN)
      out.ended = true;
    else if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
      out.problem = "tls: " + openssl::take_error();
    return out;
  }
}

void tls_client::send(std::string_view plain) {
  std::size_t written = 0;
  // Memory takes all of it.
  if (!plain.empty()) SSL_write_ex(impl_->session.get(), plain.data(), plain.size(), &written);
}

std::string tls_client::take() {
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(impl_->out, &bytes);
  std::string out{bytes, static_cast<std::size_t>(size)};
  BIO_reset(impl_->out);
  return out;
}

}  // namespace troupe::server
