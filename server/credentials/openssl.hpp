// Smart pointers for OpenSSL's objects, and its error queue as text. Included only by .cpp files.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/freed_by.hpp"

namespace troupe::server::openssl {

using runtime::freed_by;

using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free_all>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using request_ptr = std::unique_ptr<X509_REQ, freed_by<X509_REQ_free>>;
using session_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;

// Reads from the text, which must outlive the BIO.
bio_ptr reader(std::string_view text);
std::string text_of(BIO& memory);
// The text of the oldest error in this thread's queue; clears the queue, because OpenSSL misreads
// later results on other connections if an old error is left in it.
std::string take_error();
// Clears this thread's queue, as before each call whose result is judged by it. It is usually
// empty, and then ERR_clear_error() costs far more than to look.
inline void clear_errors() noexcept {
  if (ERR_peek_error() != 0) ERR_clear_error();
}
// All entries of that type in a subject, e.g. NID_organizationName.
std::vector<std::string> entries(const X509_NAME* name, int nid);
// "sha256:" and the hex hash of the key as SubjectPublicKeyInfo (DER), in kubeadm's format.
std::string key_hash(const X509_PUBKEY* key);
// The last entry, which is the effective one (Go: crypto/x509/pkix, Name.FillFromRDNSequence);
// empty if there is none.
std::string last_entry(const X509_NAME* name, int nid);
// Seconds since 1970.
std::time_t seconds_of(const ASN1_TIME* when);

}  // namespace troupe::server::openssl
