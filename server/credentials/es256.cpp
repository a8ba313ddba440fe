#include "server/credentials/es256.hpp"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/pem.h>

#include <array>

#include "server/credentials/base64url.hpp"
#include "server/credentials/openssl.hpp"

namespace troupe::server::es256 {

namespace {

constexpr int number_bytes = 32;
constexpr std::size_t signature_bytes = 2 * number_bytes;

using openssl::freed_by;
using signature_ptr = std::unique_ptr<ECDSA_SIG, freed_by<ECDSA_SIG_free>>;
using number_ptr = std::unique_ptr<BIGNUM, freed_by<BN_free>>;
using digest_ptr = std::unique_ptr<EVP_MD_CTX, freed_by<EVP_MD_CTX_free>>;

tl::unexpected<std::string> failed(const char* problem) {
  return tl::make_unexpected(std::string{problem} + ": " + openssl::take_error());
}

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

bool is_p256(EVP_PKEY& key) {
  std::array<char, 32> group{};
  std::size_t size = 0;
  return EVP_PKEY_get_base_id(&key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(&key, group.data(), group.size(), &size) == 1 &&
         std::string_view{group.data(), size} == "prime256v1";
}

std::string coordinate(EVP_PKEY& key, const char* name) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(&key, name, &number) != 1) return {};
  const number_ptr owned{number};
  std::string out(number_bytes, '\0');
  if (BN_bn2binpad(number, reinterpret_cast<unsigned char*>(out.data()), number_bytes) !=
      number_bytes)
    return {};
  return base64url(out);
}

std::string id_of(EVP_PKEY& key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(&key, &der);
  if (size <= 0) return {};
  const auto hash = sha256({reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)});
  OPENSSL_free(der);
  return base64url(hash);
}

// Converts an ASN.1 signature to r and s.
std::string plain_signature(const std::string& der) {
  const auto* at = bytes(der);
  const signature_ptr parts{d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()))};
  if (!parts) return {};
  std::string out(signature_bytes, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  if (BN_bn2binpad(ECDSA_SIG_get0_r(parts.get()), to, number_bytes) != number_bytes ||
      BN_bn2binpad(ECDSA_SIG_get0_s(parts.get()), to + number_bytes, number_bytes) != number_bytes)
    return {};
  return out;
}

// The reverse; empty if it fails.
std::string der_signature(std::string_view plain) {
  if (plain.size() != signature_bytes) return {};
  const signature_ptr parts{ECDSA_SIG_new()};
  BIGNUM* r = BN_bin2bn(bytes(plain), number_bytes, nullptr);
  BIGNUM* s = BN_bin2bn(bytes(plain) + number_bytes, number_bytes, nullptr);
  if (!parts || ECDSA_SIG_set0(parts.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return {};
  }
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(parts.get(), &der);
  if (size <= 0) return {};
  std::string out{reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)};
  OPENSSL_free(der);
  return out;
}

}  // namespace

struct key::held {
  openssl::key_ptr pkey;
};

tl::expected<key, std::string> key::read(const std::string& pem) {
  auto input = openssl::reader(pem);
  openssl::key_ptr pkey{PEM_read_bio_PrivateKey(input.get(), nullptr, nullptr, nullptr)};
  const bool is_private = pkey != nullptr;
  if (!is_private) {
    input = openssl::reader(pem);
    pkey.reset(PEM_read_bio_PUBKEY(input.get(), nullptr, nullptr, nullptr));
  }
  ERR_clear_error();
  if (!pkey) return tl::make_unexpected(std::string{"no private or public key in PEM form"});
  if (!is_p256(*pkey)) return tl::make_unexpected(std::string{"its key is not one of P-256"});
  key out;
  out.signs_ = is_private;
  out.id_ = id_of(*pkey);
  out.x_ = coordinate(*pkey, OSSL_PKEY_PARAM_EC_PUB_X);
  out.y_ = coordinate(*pkey, OSSL_PKEY_PARAM_EC_PUB_Y);
  if (out.id_.empty() || out.x_.empty() || out.y_.empty()) return failed("the key cannot be used");
  out.held_ = std::make_shared<const held>(held{std::move(pkey)});
  return out;
}

tl::expected<std::string, std::string> key::sign(std::string_view text) const {
  const digest_ptr digest{EVP_MD_CTX_new()};
  std::size_t size = 0;
  if (!signs_ || !digest ||
      EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, held_->pkey.get()) != 1 ||
      EVP_DigestSign(digest.get(), nullptr, &size, bytes(text), text.size()) != 1)
    return failed("the token cannot be signed");
  std::string der(size, '\0');
  if (EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(der.data()), &size, bytes(text),
                     text.size()) != 1)
    return failed("the token cannot be signed");
  der.resize(size);
  auto plain = plain_signature(der);
  if (plain.empty()) return failed("the signature cannot be written");
  return plain;
}

bool key::verify(std::string_view text, std::string_view signature) const {
  const auto der = der_signature(signature);
  const digest_ptr digest{EVP_MD_CTX_new()};
  const bool good =
      !der.empty() && digest &&
      EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, held_->pkey.get()) == 1 &&
      EVP_DigestVerify(digest.get(), bytes(der), der.size(), bytes(text), text.size()) == 1;
  ERR_clear_error();
  return good;
}

std::string sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace troupe::server::es256
