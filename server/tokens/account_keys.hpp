// The keys of service account tokens: one signs, all verify, so that a key can be replaced while
// its tokens are in use.
//
//   sa.key                     signs; created if it is missing
//   sa-<anything>.key|.pub     verify only: former keys, or those of other servers
//
// To replace the key: rename sa.key to sa-old.key and restart; remove sa-old.key when the last of
// its tokens has expired. Immutable after open().
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "server/credentials/es256.hpp"

namespace troupe::server {

class account_keys {
 public:
  // Creates a missing directory (0700). The error names the invalid file and the remedy: an
  // unreadable key is never replaced.
  static tl::expected<account_keys, std::string> open(const std::filesystem::path& directory);

  const es256::key& signing() const noexcept { return keys_.front(); }
  // Null if no key has that id.
  const es256::key* find(std::string_view id) const noexcept;
  // The signing key first.
  const std::vector<es256::key>& all() const noexcept { return keys_; }

 private:
  std::vector<es256::key> keys_;
};

}  // namespace troupe::server
