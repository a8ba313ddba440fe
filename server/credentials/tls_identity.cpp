#include "server/credentials/tls_identity.hpp"

#include <cstring>

#include "server/credentials/openssl.hpp"

namespace troupe::server {
namespace {

// RFC 9325 4.2: only forward secrecy and authenticated encryption. AES-128 first, as Go's servers:
// it is a third cheaper than AES-256, and both are secure.
constexpr const char* tls12_ciphers = "ECDHE+AESGCM+AES128:ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr const char* tls13_ciphers =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

int select_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* input, unsigned int in_size, void*) {
  static constexpr unsigned char ours[] = "\x02h2\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, ours, sizeof ours - 1, input, in_size) !=
      OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// The result is kept in SSL_get_verify_result; requests then get a 401.
int accept_any(int, X509_STORE_CTX*) {
  return 1;
}

tl::unexpected<std::string> bad(const char* problem) {
  return tl::make_unexpected(std::string(problem) + ": " + openssl::take_error());
}

tl::expected<void, std::string> load_certificates(SSL_CTX& context, const std::string& pem) {
  const auto input = openssl::reader(pem);
  openssl::certificate_ptr own{PEM_read_bio_X509(input.get(), nullptr, nullptr, nullptr)};
  if (!own || SSL_CTX_use_certificate(&context, own.get()) != 1)
    return bad("the server's certificate is not usable");
  while (openssl::certificate_ptr more{PEM_read_bio_X509(input.get(), nullptr, nullptr, nullptr)}) {
    if (SSL_CTX_add0_chain_cert(&context, more.get()) != 1)
      return bad("the server's certificate chain is not usable");
    static_cast<void>(more.release());  // the context owns it now
  }
  ERR_clear_error();  // the end of the text is reported as an error
  return {};
}

tl::expected<void, std::string> load_key(SSL_CTX& context, const std::string& pem) {
  const auto input = openssl::reader(pem);
  const openssl::key_ptr key{PEM_read_bio_PrivateKey(input.get(), nullptr, nullptr, nullptr)};
  if (!key || SSL_CTX_use_PrivateKey(&context, key.get()) != 1 ||
      SSL_CTX_check_private_key(&context) != 1)
    return bad("the server's private key does not belong to its certificate");
  return {};
}

tl::expected<void, std::string> trust_clients_of(SSL_CTX& context, const std::string& pem) {
  const auto input = openssl::reader(pem);
  const openssl::certificate_ptr authority{
      PEM_read_bio_X509(input.get(), nullptr, nullptr, nullptr)};
  if (!authority || X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), authority.get()) != 1 ||
      SSL_CTX_add_client_CA(&context, authority.get()) != 1)
    return bad("the authority for client certificates is not usable");
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, accept_any);
  return {};
}

tl::expected<std::shared_ptr<SSL_CTX>, std::string> make_context(const tls_material& material) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context{SSL_CTX_new(TLS_server_method()), SSL_CTX_free};
  if (!context) return bad("TLS is not available");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  if (SSL_CTX_set_cipher_list(context.get(), tls12_ciphers) != 1 ||
      SSL_CTX_set_ciphersuites(context.get(), tls13_ciphers) != 1)
    return bad("the ciphers of TLS are not available");
  // Idle connections have no buffers, and closed ones leave no sessions.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context.get(), 1);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_options(context.get(),
                      SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_alpn_select_cb(context.get(), select_protocol, nullptr);
  if (auto done = load_certificates(*context, material.certificates); !done)
    return tl::make_unexpected(done.error());
  if (auto done = load_key(*context, material.private_key); !done)
    return tl::make_unexpected(done.error());
  if (auto done = trust_clients_of(*context, material.client_authority); !done)
    return tl::make_unexpected(done.error());
  return context;
}

}  // namespace

tl::expected<std::unique_ptr<tls_identity>, std::string> tls_identity::make(
    const tls_material& material) {
  std::unique_ptr<tls_identity> made{new tls_identity};
  if (auto done = made->replace(material); !done) return tl::make_unexpected(done.error());
  return made;
}

tl::expected<void, std::string> tls_identity::replace(const tls_material& material) {
  auto context = make_context(material);
  if (!context) return tl::make_unexpected(context.error());
  const std::lock_guard lock{mutex_};
  context_ = std::move(*context);
  return {};
}

std::shared_ptr<ssl_ctx_st> tls_identity::context() const {
  const std::lock_guard lock{mutex_};
  return context_;
}

}  // namespace troupe::server
