// Authenticated encryption of a text: AES-256-GCM, as kubeadm's upload-certs encrypts the files
// that it stores in the cluster. Pure except for random numbers.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace troupe::server {

// Random, 32 bytes, as 64 hexadecimal digits.
tl::expected<std::string, std::string> make_sealing_key();
// Whether it has the form of such a key.
bool is_sealing_key(std::string_view key);

// A random nonce of 12 bytes, the ciphertext, and a tag of 16 bytes. Bound to `context`.
tl::expected<std::string, std::string> seal(std::string_view text, std::string_view key,
                                            std::string_view context);
// Fails if the text is damaged, or the key or context differs.
tl::expected<std::string, std::string> unseal(std::string_view sealed, std::string_view key,
                                              std::string_view context);

}  // namespace troupe::server
