// Static bearer tokens in upstream's file format: token,user,uid,"group,group" on each line. If the
// file does not exist it is created (0600) with one random token for the administrator.
//
// Only hashes stay in memory, and a search compares all of them in constant time. Thread safe;
// refresh() belongs to one thread.
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
  // The error is one line naming the file and the invalid line; never a token.
  static tl::expected<std::shared_ptr<token_file>, std::string> open(std::filesystem::path path);

  user_ptr find(std::string_view token) const override;

  // Reads a changed file again; keeps the old tokens if it is not readable.
  tl::expected<void, std::string> refresh();

 private:
  struct entry {
    std::string hash;
    user_ptr user;
  };
  explicit token_file(std::filesystem::path path) : path_{std::move(path)} {}
  static tl::expected<std::vector<entry>, std::string> parse(const std::string& text);

  const std::filesystem::path path_;
  std::string read_hash_;  // of the text read last
  mutable std::shared_mutex mutex_;
  std::vector<entry> entries_;
};

}  // namespace troupe::server
