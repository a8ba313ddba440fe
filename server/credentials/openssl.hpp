// What the server needs of OpenSSL besides runtime/openssl.hpp: its error queue as text, texts of
// certificates. Included only by .cpp files.
#pragma once

#include <openssl/ssl.h>

#include <ctime>
#include <memory>
#include <string>

#include "runtime/openssl.hpp"

namespace troupe::server::openssl {

using namespace runtime::openssl;
using runtime::freed_by;

using session_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;

std::string text_of(BIO& memory);
// The text of the oldest error in this thread's queue; clears the queue, because OpenSSL misreads
// later results on other connections if an old error is left in it.
std::string take_error();
// Clears this thread's queue, as before each call whose result is judged by it. It is usually
// empty, and then ERR_clear_error() costs far more than to look.
inline void clear_errors() noexcept {
  if (ERR_peek_error() != 0) ERR_clear_error();
}
// The last entry, which is the effective one (Go: crypto/x509/pkix, Name.FillFromRDNSequence);
// empty if there is none.
std::string last_entry(const X509_NAME* name, int nid);
// Seconds since 1970.
std::time_t seconds_of(const ASN1_TIME* when);

}  // namespace troupe::server::openssl
