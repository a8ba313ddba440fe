// Static bearer tokens in a file of the form that upstream reads: token,user,uid,"group,group" on
// each line. Made with one random token for the administrator when it is not there (0600).
//
// Only hashes stay in memory, and a search compares every one of them in constant time. Thread
// safe; refresh() belongs to one thread.
#pragma once

#include <filesystem>
#include <memory>
#include <shared_mutex>
#include <string>
#include <tl/expected.hpp>

#include "server/access/authentication.hpp"

namespace troupe::server {

class token_file final : public token_source {
 public:
  // The error is one line naming the file, and the line in it that is wrong; never a token.
  static tl::expected<std::shared_ptr<token_file>, std::string> open(std::filesystem::path path);

  user_ptr find(std::string_view token) const override;

  // Reads the file again when it has changed; what was known stays when it is not readable.
  tl::expected<void, std::string> refresh();

 private:
  struct entry {
    std::string hash;
    user_ptr user;
  };
  explicit token_file(std::filesystem::path path) : path_{std::move(path)} {}
  static tl::expected<std::vector<entry>, std::string> parse(const std::string& text);

  const std::filesystem::path path_;
  std::string read_hash_;  // of the text last read
  mutable std::shared_mutex mutex_;
  std::vector<entry> entries_;
};

}  // namespace troupe::server
