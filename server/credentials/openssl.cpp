#include "server/credentials/openssl.hpp"

#include <array>
#include <utility>

namespace troupe::server::openssl {

std::string text_of(BIO& memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(&memory, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

std::string take_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "no reason given";
  const char* reason = ERR_reason_error_string(code);
  if (reason != nullptr) return reason;
  std::array<char, 256> buffer;
  ERR_error_string_n(code, buffer.data(), buffer.size());
  return buffer.data();
}

std::string last_entry(const X509_NAME* name, int nid) {
  auto found = entries(name, nid);
  return found.empty() ? std::string() : std::move(found.back());
}

std::time_t seconds_of(const ASN1_TIME* when) {
  std::tm parts{};
  ASN1_TIME_to_tm(when, &parts);
  return ::timegm(&parts);
}

}  // namespace troupe::server::openssl
