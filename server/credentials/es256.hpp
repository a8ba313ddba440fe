// Signatures of JSON Web Tokens by ECDSA P-256 (RFC 7518, ES256): the hash is SHA-256, a signature
// 64 bytes, r and s. Thread safe; errors are one line saying what could not be done.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace troupe::server::es256 {

class key {
 public:
  // PEM of a private or a public key of P-256; the error says what it is instead.
  static tl::expected<key, std::string> read(const std::string& pem);

  // Whether it is a private one.
  bool signs() const noexcept { return signs_; }
  // Of its public part: base64url of the SHA-256 of its SubjectPublicKeyInfo, as upstream names it.
  const std::string& id() const noexcept { return id_; }
  // The coordinates of its point, base64url (RFC 7518 6.2.1).
  const std::string& x() const noexcept { return x_; }
  const std::string& y() const noexcept { return y_; }

  // For a private key alone.
  tl::expected<std::string, std::string> sign(std::string_view text) const;
  bool verify(std::string_view text, std::string_view signature) const;

 private:
  struct held;
  std::shared_ptr<const held> held_;
  bool signs_ = false;
  std::string id_, x_, y_;
};

// SHA-256, 32 bytes.
std::string sha256(std::string_view text);

}  // namespace troupe::server::es256
