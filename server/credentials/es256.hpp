// ECDSA P-256 signatures of JSON Web Tokens (RFC 7518, ES256): the hash is SHA-256, a signature has
// 64 bytes, r and s. Thread safe; errors are one line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace troupe::server::es256 {

class key {
 public:
  // Reads PEM of a private or public P-256 key; the error names the actual type.
  static tl::expected<key, std::string> read(const std::string& pem);

  // True for a private key.
  bool signs() const noexcept { return signs_; }
  // Id of the public key: base64url of the SHA-256 of its SubjectPublicKeyInfo, as upstream.
  const std::string& id() const noexcept { return id_; }
  // The coordinates of its point, base64url (RFC 7518 6.2.1).
  const std::string& x() const noexcept { return x_; }
  const std::string& y() const noexcept { return y_; }

  // For a private key only.
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
