// The keys of service account tokens: one signs, all verify, so that a key can be replaced while
// tokens of the old one are about.
//
//   sa.key                     signs; made when it is not there
//   sa-<anything>.key|.pub     verify only: keys that signed before, or sign elsewhere
//
// To replace the key: rename sa.key to sa-old.key and start again; remove sa-old.key when the last
// of its tokens has expired. Immutable after open().
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
  // The directory is made where missing (0700). The error names the file that is wrong, and what to
  // do: a key that cannot be read is never replaced.
  static tl::expected<account_keys, std::string> open(const std::filesystem::path& directory);

  const es256::key& signing() const noexcept { return keys_.front(); }
  // Null: none of that id.
  const es256::key* find(std::string_view id) const noexcept;
  // The one that signs first.
  const std::vector<es256::key>& all() const noexcept { return keys_; }

 private:
  std::vector<es256::key> keys_;
};

}  // namespace troupe::server
