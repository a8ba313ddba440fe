#include "server/rest/proxy/tls_client.hpp"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <utility>

#include "server/credentials/openssl.hpp"
#include "server/defaults.hpp"

namespace troupe::server {
namespace {

// Shared: it has no state of a connection.
const tls_context& trusting_context() {
  static const tls_context made = make_client_context({}).value();
  return made;
}

// Any certificate may end the chain, as with Go's pools.
bool trust(SSL_CTX& context, const std::string& authority) {
  if (authority.empty()) return SSL_CTX_set_default_verify_paths(&context) == 1;
  auto* store = SSL_CTX_get_cert_store(&context);
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  const auto input = openssl::reader(authority);
  std::size_t taken = 0;
  while (const openssl::certificate_ptr each{
      PEM_read_bio_X509(input.get(), nullptr, nullptr, nullptr)})
    taken += X509_STORE_add_cert(store, each.get()) == 1 ? 1 : 0;
  ERR_clear_error();  // the end of the text is reported as an error
  return taken > 0;
}

bool show(SSL_CTX& context, const x509::identity& identity) {
  const auto certificate_text = openssl::reader(identity.certificate);
  const auto key_text = openssl::reader(identity.private_key);
  const openssl::certificate_ptr certificate{
      PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr)};
  const openssl::key_ptr key{PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr)};
  return certificate && key && SSL_CTX_use_certificate(&context, certificate.get()) == 1 &&
         SSL_CTX_use_PrivateKey(&context, key.get()) == 1;
}

// Go's message for the same error.
std::string verification_problem(const SSL* session, const std::string& server_name) {
  const auto result = SSL_get_verify_result(session);
  std::string problem = X509_verify_cert_error_string(result);
  if (result == X509_V_ERR_HOSTNAME_MISMATCH)
    problem = "certificate is not valid for " + server_name;
  else if (result == X509_V_ERR_CERT_HAS_EXPIRED || result == X509_V_ERR_CERT_NOT_YET_VALID)
    problem = "certificate has expired or is not yet valid";
  else if (result == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
           result == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE ||
           result == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT ||
           result == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN)
    problem = "certificate signed by unknown authority";
  return "tls: failed to verify certificate: x509: " + problem;
}

}  // namespace

tl::expected<tls_context, std::string> make_client_context(const tls_client_options& options) {
  ERR_clear_error();
  tls_context context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  if (!context) return tl::make_unexpected("TLS is not available: " + openssl::take_error());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (options.verify && !trust(*context, options.authority))
    return tl::make_unexpected(
        std::string{"unable to load root certificates: unable to parse bytes as PEM block"});
  if (!options.shown.certificate.empty() && !show(*context, options.shown))
    return tl::make_unexpected("the certificate to show is not usable: " + openssl::take_error());
  return context;
}

struct tls_client::impl {
  tls_context context;
  std::string server_name;
  openssl::session_ptr session;
  BIO* in = nullptr;  // the session owns both
  BIO* out = nullptr;
};

tls_client::tls_client() : tls_client{trusting_context(), {}} {}

tls_client::tls_client(tls_context context, const std::string& server_name)
    : impl_{std::make_unique<impl>()} {
  impl_->context = std::move(context);
  impl_->server_name = server_name;
  impl_->session.reset(SSL_new(impl_->context.get()));
  if (!server_name.empty()) {
    SSL_set_tlsext_host_name(impl_->session.get(), server_name.c_str());
    SSL_set_hostflags(impl_->session.get(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    SSL_set1_host(impl_->session.get(), server_name.c_str());
  }
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
    else if (SSL_get_verify_mode(session) != SSL_VERIFY_NONE &&
             SSL_get_verify_result(session) != X509_V_OK)
      out.problem = verification_problem(session, impl_->server_name);
    else if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
      out.problem = "tls: " + openssl::take_error();
    return out;
  }
}

void tls_client::send(std::string_view plain) {
  std::size_t written = 0;
  // A memory BIO accepts all bytes.
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
