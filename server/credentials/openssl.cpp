#include "server/credentials/openssl.hpp"

#include <array>
#include <span>

namespace troupe::server::openssl {

bio_ptr reader(std::string_view text) {
  return bio_ptr{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

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

std::vector<std::string> entries(const X509_NAME* name, int nid) {
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

std::string key_hash(const X509_PUBKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(key, &der);
  if (size <= 0) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int digest_size = 0;
  EVP_Digest(der, static_cast<std::size_t>(size), digest.data(), &digest_size, EVP_sha256(),
             nullptr);
  OPENSSL_free(der);
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "sha256:";
  for (const auto byte : std::span{digest}.first(digest_size)) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
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
