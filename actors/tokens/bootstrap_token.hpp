// Bootstrap tokens: Secrets of type bootstrap.kubernetes.io/token in kube-system, named
// bootstrap-token-ID, with which a new machine proves that it may join (kubernetes:
// cluster-bootstrap). Pure functions.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_config.pb.h"

namespace troupe::actors {

inline constexpr std::string_view bootstrap_token_type = "bootstrap.kubernetes.io/token";
inline constexpr std::string_view bootstrap_token_namespace = "kube-system";

namespace defaults {
// The longest wait before the cleaner reads the clock again.
inline constexpr std::chrono::seconds token_sweep{60};
}  // namespace defaults

using token_time = std::chrono::system_clock::time_point;

struct bootstrap_token {
  std::string id;      // [a-z0-9]{6}, not secret
  std::string secret;  // [a-z0-9]{16}
  // Nothing: it never expires.
  std::optional<token_time> expires;
  bool authenticates = false;  // usage-bootstrap-authentication
  std::vector<std::string> extra_groups;
  std::string description;

  bool expired(token_time now) const { return expires && *expires <= now; }
};

// The two parts of "ID.SECRET"; nothing if the text has another form.
struct token_parts {
  std::string_view id, secret;
};
std::optional<token_parts> split_token(std::string_view text);

// The name of its Secret.
std::string bootstrap_token_name(std::string_view id);

// Returns nothing if the object is not a valid bootstrap token. An invalid expiration counts as
// expired.
std::optional<bootstrap_token> read_bootstrap_token(const api::object& secret);

// Creates the Secret of the token.
std::unique_ptr<api::core::v1::Secret> write_bootstrap_token(const bootstrap_token& token);

}  // namespace troupe::actors
