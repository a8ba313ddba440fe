#include "server/credentials/sealed_text.hpp"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <array>
#include <charconv>
#include <memory>

#include "server/credentials/openssl.hpp"

namespace troupe::server {
namespace {

constexpr std::size_t key_bytes = 32, nonce_bytes = 12, tag_bytes = 16;
constexpr std::string_view digits = "0123456789abcdef";

using cipher_ptr = std::unique_ptr<EVP_CIPHER_CTX, openssl::freed_by<EVP_CIPHER_CTX_free>>;

// Wiped by the destructor.
struct key_material {
  std::array<unsigned char, key_bytes> bytes{};

  key_material() = default;
  key_material(const key_material&) = delete;
  key_material& operator=(const key_material&) = delete;
  ~key_material() { ::OPENSSL_cleanse(bytes.data(), bytes.size()); }

  bool read(std::string_view key) {
    if (!is_sealing_key(key)) return false;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      std::from_chars(key.data() + 2 * i, key.data() + 2 * i + 2, bytes[i], 16);
    return true;
  }
};

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

tl::unexpected<std::string> failed(const char* work) {
  return tl::make_unexpected(std::string{work} + ": " + openssl::take_error());
}

}  // namespace

tl::expected<std::string, std::string> make_sealing_key() {
  key_material key;
  if (::RAND_bytes(key.bytes.data(), key_bytes) != 1) return failed("no random numbers");
  std::string text;
  for (const auto byte : key.bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

bool is_sealing_key(std::string_view key) {
  return key.size() == 2 * key_bytes && key.find_first_not_of(digits) == key.npos;
}

tl::expected<std::string, std::string> seal(std::string_view text, std::string_view key,
                                            std::string_view context) {
  key_material material;
  if (!material.read(key)) return tl::make_unexpected(std::string{"the key is malformed"});
  std::string sealed(nonce_bytes + text.size() + tag_bytes, '\0');
  auto* const out = bytes_of(sealed);
  if (::RAND_bytes(out, nonce_bytes) != 1) return failed("no random numbers");
  const cipher_ptr cipher{::EVP_CIPHER_CTX_new()};
  int size = 0;
  const bool done =
      ::EVP_EncryptInit_ex(cipher.get(), ::EVP_aes_256_gcm(), nullptr, material.bytes.data(),
                           out) == 1 &&
      ::EVP_EncryptUpdate(cipher.get(), nullptr, &size, bytes_of(context),
                          static_cast<int>(context.size())) == 1 &&
      ::EVP_EncryptUpdate(cipher.get(), out + nonce_bytes, &size, bytes_of(text),
                          static_cast<int>(text.size())) == 1 &&
      ::EVP_EncryptFinal_ex(cipher.get(), out + nonce_bytes + text.size(), &size) == 1 &&
      ::EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes,
                            out + nonce_bytes + text.size()) == 1;
  if (!done) return failed("cannot be sealed");
  return sealed;
}

tl::expected<std::string, std::string> unseal(std::string_view sealed, std::string_view key,
                                              std::string_view context) {
  key_material material;
  if (!material.read(key)) return tl::make_unexpected(std::string{"the key is malformed"});
  if (sealed.size() < nonce_bytes + tag_bytes)
    return tl::make_unexpected(std::string{"it is truncated"});
  const auto body = sealed.substr(nonce_bytes, sealed.size() - nonce_bytes - tag_bytes);
  std::string tag{sealed.substr(sealed.size() - tag_bytes)};
  std::string text(body.size(), '\0');
  const cipher_ptr cipher{::EVP_CIPHER_CTX_new()};
  int size = 0;
  const bool done =
      ::EVP_DecryptInit_ex(cipher.get(), ::EVP_aes_256_gcm(), nullptr, material.bytes.data(),
                           bytes_of(sealed)) == 1 &&
      ::EVP_DecryptUpdate(cipher.get(), nullptr, &size, bytes_of(context),
                          static_cast<int>(context.size())) == 1 &&
      ::EVP_DecryptUpdate(cipher.get(), bytes_of(text), &size, bytes_of(body),
                          static_cast<int>(body.size())) == 1 &&
      ::EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, bytes_of(tag)) == 1 &&
      ::EVP_DecryptFinal_ex(cipher.get(), bytes_of(text) + text.size(), &size) == 1;
  openssl::take_error();
  if (!done) return tl::make_unexpected(std::string{"the key is wrong, or the text was changed"});
  return text;
}

}  // namespace troupe::server
