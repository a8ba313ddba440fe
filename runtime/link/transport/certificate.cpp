#include "runtime/link/transport/certificate.hpp"

#include "runtime/openssl.hpp"

namespace troupe::runtime::link {
namespace {

// Never prompts for a passphrase.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

openssl::key_ptr key_of(const std::string& pem) {
  const auto text = openssl::reader(pem);
  openssl::key_ptr read{PEM_read_bio_PrivateKey(text.get(), nullptr, no_passphrase, nullptr)};
  ERR_clear_error();
  return read;
}

}  // namespace

tl::expected<peer, std::string> read_peer(const std::string& certificate) {
  const auto read = openssl::read_certificate(certificate);
  if (!read) return tl::make_unexpected(std::string{"the certificate of the peer is not readable"});
  const auto* subject = X509_get_subject_name(read.get());
  const auto names = openssl::entries(subject, NID_commonName);
  auto groups = openssl::entries(subject, NID_organizationName);
  ERR_clear_error();
  if (names.size() != 1)
    return tl::make_unexpected(
        std::string{"the certificate of the peer must have one common name (CN), it has "} +
        std::to_string(names.size()));
  peer found;
  found.name = names.front();
  found.groups = std::move(groups);
  found.key_hash = openssl::key_hash(X509_get_X509_PUBKEY(read.get()));
  if (found.key_hash.empty())
    return tl::make_unexpected(std::string{"the key of the peer's certificate is not readable"});
  return found;
}

tl::expected<void, std::string> check(const credentials& credentials) {
  const auto certificate = openssl::read_certificate(credentials.certificate);
  if (!certificate)
    return tl::make_unexpected(std::string{"the link's own certificate is not a certificate"});
  if (!openssl::read_certificate(credentials.authority))
    return tl::make_unexpected(std::string{"the link's authority is not a certificate"});
  const auto key = key_of(credentials.private_key);
  if (!key) return tl::make_unexpected(std::string{"the link's private key is not a key"});
  const bool fits = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!fits)
    return tl::make_unexpected(
        std::string{"the link's private key is not that of its certificate"});
  return {};
}

}  // namespace troupe::runtime::link
