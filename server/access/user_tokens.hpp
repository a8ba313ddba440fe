// Bearer tokens of people, as `troupe user create` makes them. The store keeps the hash of each, in
// a Secret of kube-system, and is asked at each use: a token that is deleted or expires counts no
// more from that moment on.
//
// What people may do is said by roles and bindings. Who may write Secrets in kube-system can act as
// any user, but as none whose name or group begins with "system:".
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

// The error says in one line why it can be no name of a user or group.
tl::expected<void, std::string> check_user_name(std::string_view name);
// Of the Secret of that user.
std::string user_secret_name(std::string_view user);
// "SECRET-NAME.RANDOM"; empty where there are no random numbers.
std::string new_user_token(std::string_view user);
std::string hash_of_user_token(std::string_view token);

// Nothing where the object is no such Secret, or one that says what no command has written.
std::optional<user_token> read_user_token(const api::object& secret);
std::unique_ptr<api::core::v1::Secret> write_user_token(const user_token& token);

// Thread safe.
class user_tokens final : public token_source {
 public:
  using clock = std::function<user_token::time()>;

  // The store outlives it. Without a clock: the system's.
  explicit user_tokens(const persistence::store& store, clock now = {});

  // Hashes are compared in constant time.
  user_ptr find(std::string_view token) const override;

 private:
  const persistence::store& store_;
  const clock now_;
};

}  // namespace troupe::server
