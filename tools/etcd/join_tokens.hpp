// Tokens with which a machine becomes a member. DATA-DIR/tokens/ID holds the token's secret, its
// expiry, and etcd's keys, sealed with a key that only the printed command contains. A stolen token
// without that key opens nothing, as with `troupe token create --control-plane`.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "server/credentials/x509.hpp"

namespace troupe::tools {

// The keys and addresses that a joining machine receives.
struct member_bundle {
  server::x509::identity authority;
  std::vector<std::string> endpoints;  // client URLs of members
};

struct made_token {
  std::string token;            // ID.SECRET
  std::string certificate_key;  // 64 hexadecimal digits
};

using token_time = std::chrono::system_clock::time_point;

// Removes expired tokens. Fails if there are `etcd_defaults::tokens`.
tl::expected<made_token, std::string> make_join_token(const std::filesystem::path& data_dir,
                                                      const member_bundle& bundle, token_time now,
                                                      std::chrono::milliseconds lifetime);

// The sealed keys to send; empty if the token is unknown or has expired.
std::string sealed_for(const std::filesystem::path& data_dir, std::string_view token,
                       token_time now);

tl::expected<member_bundle, std::string> open_bundle(std::string_view sealed,
                                                     const std::string& certificate_key,
                                                     const std::string& token,
                                                     const std::string& authority_hash);

}  // namespace troupe::tools
