// OpenSSL's objects as smart pointers, and the parts of certificates that several rooms read.
// Everything is inline: a room that includes this links OpenSSL itself. Included only by .cpp
// files, and by headers that only those include.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/freed_by.hpp"

namespace troupe::runtime::openssl {

inline void free_extensions(STACK_OF(X509_EXTENSION) * all) {
  sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
}

using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free_all>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using request_ptr = std::unique_ptr<X509_REQ, freed_by<X509_REQ_free>>;
using extensions_ptr = std::unique_ptr<STACK_OF(X509_EXTENSION), freed_by<free_extensions>>;

// Reads from the text, which must outlive the BIO.
inline bio_ptr reader(std::string_view text) {
  return bio_ptr{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

// The first certificate of a PEM text; null if there is none. Clears this thread's error queue.
inline certificate_ptr read_certificate(std::string_view pem) {
  const auto input = reader(pem);
  certificate_ptr found{PEM_read_bio_X509(input.get(), nullptr, nullptr, nullptr)};
  ERR_clear_error();
  return found;
}

// All entries of that type in a subject, e.g. NID_organizationName.
inline std::vector<std::string> entries(const X509_NAME* name, int nid) {
  std::vector<std::string> found;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(name, nid, at)) {
    unsigned char* utf8 = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) continue;
    found.emplace_back(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
    OPENSSL_free(utf8);
  }
  return found;
}

// "sha256:" and the hex hash of the key as SubjectPublicKeyInfo (DER), in kubeadm's format; empty
// if the key cannot be read.
inline std::string key_hash(const X509_PUBKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(key, &der);
  if (size <= 0) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int digest_size = 0;
  const int done = EVP_Digest(der, static_cast<std::size_t>(size), digest.data(), &digest_size,
                              EVP_sha256(), nullptr);
  OPENSSL_free(der);
  if (done != 1) return {};
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "sha256:";
  for (const auto byte : std::span{digest}.first(digest_size)) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace troupe::runtime::openssl
