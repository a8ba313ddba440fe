// Bearer tokens of users, created by `troupe user create`. The store keeps the hash of each in
// a Secret in kube-system and is read at each use: a deleted or expired token is invalid at
// once.
//
// Roles and bindings give users their permissions. A user who may write Secrets in kube-system can
// act as any other user, except those with a name or group that begins with "system:".
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_config.pb.h"
#include "persistence/store/store.hpp"
#include "server/access/authentication.hpp"

namespace troupe::server {

inline constexpr std::string_view user_token_type = "troupe/user-token";
inline constexpr std::string_view user_token_namespace = "kube-system";
inline constexpr std::string_view user_token_label = "troupe/user-token";  // "true"

struct user_token {
  using time = std::chrono::system_clock::time_point;

  std::string user = {};
  std::vector<std::string> groups = {};
  std::string hash = {};             // SHA-256 of the token, in hex
  std::optional<time> expires = {};  // none: never

  bool expired(time now) const { return expires && *expires <= now; }
};

// The error is one line: why it cannot be a name of a user or group.
tl::expected<void, std::string> check_user_name(std::string_view name);
// The name of that user's Secret.
std::string user_secret_name(std::string_view user);
// "SECRET-NAME.RANDOM"; empty if no random numbers are available.
std::string new_user_token(std::string_view user);
std::string hash_of_user_token(std::string_view token);

// Nullopt if the object is not such a Secret, or its content was not written by the command.
std::optional<user_token> read_user_token(const api::object& secret);
std::unique_ptr<api::core::v1::Secret> write_user_token(const user_token& token);

// Thread safe.
class user_tokens final : public token_source {
 public:
  using clock = std::function<user_token::time()>;

  // The store must outlive it. Without a clock: the system's.
  explicit user_tokens(const persistence::store& store, clock now = {});

  // Hashes are compared in constant time.
  user_ptr find(std::string_view token) const override;

 private:
  const persistence::store& store_;
  const clock now_;
};

}  // namespace troupe::server
