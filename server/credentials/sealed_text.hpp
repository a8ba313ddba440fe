// A text that only who has its key can read, and nobody can change: AES-256-GCM, as kubeadm seals
// what its upload-certs leaves in the cluster. Pure but for the random numbers.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace troupe::server {

// Random, 32 bytes, as 64 hexadecimal digits.
tl::expected<std::string, std::string> make_sealing_key();
// Whether it has that form.
bool is_sealing_key(std::string_view key);

// A random nonce of 12 bytes, what is sealed, and a tag of 16. It opens in no other `context`.
tl::expected<std::string, std::string> seal(std::string_view text, std::string_view key,
                                            std::string_view context);
// The error: it is damaged, or the key or the context is another.
tl::expected<std::string, std::string> unseal(std::string_view sealed, std::string_view key,
                                              std::string_view context);

}  // namespace troupe::server
