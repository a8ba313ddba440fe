#include "runtime/link/transport/certificate.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <memory>

#include "runtime/freed_by.hpp"

namespace troupe::runtime::link {
namespace {

using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free_all>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;

certificate_ptr certificate_of(const std::string& pem) {
  const bio_ptr text{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  certificate_ptr read{PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)};
  ERR_clear_error();
  return read;
}

// Never prompts for a passphrase.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

key_ptr key_of(const std::string& pem) {
  const bio_ptr text{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  key_ptr read{PEM_read_bio_PrivateKey(text.get(), nullptr, no_passphrase, nullptr)};
  ERR_clear_error();
  return read;
}

std::vector<std::string> entries(const X509_NAME* name, int nid) {
  std::vector<std::string> found;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) continue;
    found.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  ERR_clear_error();
  return found;
}

std::string hash_of_key(X509* certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
  if (size <= 0) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int length = 0;
  const int done = EVP_Digest(der, size, digest.data(), &length, EVP_sha256(), nullptr);
  OPENSSL_free(der);
  if (done != 1) return {};
  std::string text = "sha256:";
  for (unsigned int i = 0; i < length; ++i) {
    text += "0123456789abcdef"[digest[i] >> 4];
    text += "0123456789abcdef"[digest[i] & 15];
  }
  return text;
}

}  // namespace

tl::expected<peer, std::string> read_peer(const std::string& certificate) {
  const auto read = certificate_of(certificate);
  if (!read) return tl::make_unexpected(std::string{"the certificate of the peer is not readable"});
  const auto* subject = X509_get_subject_name(read.get());
  const auto names = entries(subject, NID_commonName);
  if (names.size() != 1)
    return tl::make_unexpected(
        std::string{"the certificate of the peer must have one common name (CN), it has "} +
        std::to_string(names.size()));
  peer found;
  found.name = names.front();
  found.groups = entries(subject, NID_organizationName);
  found.key_hash = hash_of_key(read.get());
  if (found.key_hash.empty())
    return tl::make_unexpected(std::string{"the key of the peer's certificate is not readable"});
  return found;
}

tl::expected<void, std::string> check(const credentials& credentials) {
  const auto certificate = certificate_of(credentials.certificate);
  if (!certificate)
    return tl::make_unexpected(std::string{"the link's own certificate is not a certificate"});
  if (!certificate_of(credentials.authority))
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
