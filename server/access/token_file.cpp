#include "server/access/token_file.hpp"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <array>
#include <mutex>

#include "api/values/text_parts.hpp"
#include "server/credentials/base64url.hpp"
#include "server/credentials/es256.hpp"
#include "server/credentials/private_file.hpp"

namespace troupe::server {
namespace {

constexpr std::size_t token_bytes = 32;

// Uses the alphabet that is safe in URLs and file names.
std::string random_token() {
  std::array<unsigned char, token_bytes> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return {};
  return base64url({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// The fields of a line of comma-separated values; fields may be quoted.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (quoted || (c != ' ' && c != '\t' && c != '\r')) {
      fields.back().push_back(c);
    }
  }
  return fields;
}

}  // namespace

tl::expected<std::shared_ptr<token_file>, std::string> token_file::open(
    std::filesystem::path path) {
  auto present = read_private_file(path);
  if (!present) return tl::make_unexpected(present.error());
  if (!present->has_value()) {
    const auto token = random_token();
    if (token.empty())
      return tl::make_unexpected(std::string("no random numbers for the administrator's token"));
    const auto written =
        write_private_file(path, token + ",admin,admin,\"" + std::string(masters_group) + "\"\n");
    if (!written) return tl::make_unexpected(written.error());
  }
  std::shared_ptr<token_file> opened{new token_file{std::move(path)}};
  if (auto done = opened->refresh(); !done) return tl::make_unexpected(done.error());
  return opened;
}

tl::expected<void, std::string> token_file::refresh() {
  auto text = read_private_file(path_);
  if (!text) return tl::make_unexpected(text.error());
  auto hash = es256::sha256(text->value_or(""));
  if (hash == read_hash_) return {};
  auto entries = parse(text->value_or(""));
  if (!entries) return tl::make_unexpected(path_.string() + ": " + entries.error());
  read_hash_ = std::move(hash);
  const std::unique_lock lock{mutex_};
  entries_ = std::move(*entries);
  return {};
}

tl::expected<std::vector<token_file::entry>, std::string> token_file::parse(
    const std::string& text) {
  std::vector<entry> entries;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const auto line = api::take_part(rest, '\n');
    if (line.find_first_not_of(" \t\r") == std::string_view::npos || line.starts_with('#'))
      continue;
    const auto fields = fields_of(line);
    if (fields.size() < 3 || fields.size() > 4 || fields[0].empty() || fields[1].empty())
      return tl::make_unexpected("line " + std::to_string(number) +
                                 ": expected token,user,uid or token,user,uid,\"group,group\"");
    user_info user{fields[1], fields[2], {}};
    if (fields.size() == 4) {
      for (auto& group : fields_of(fields[3])) {
        if (!group.empty()) user.groups.push_back(std::move(group));
      }
    }
    entries.push_back(
        {es256::sha256(fields[0]), std::make_shared<const user_info>(std::move(user))});
  }
  return entries;
}

user_ptr token_file::find(std::string_view token) const {
  const auto hash = es256::sha256(token);
  user_ptr found;
  const std::shared_lock lock{mutex_};
  for (const auto& known : entries_) {
    if (CRYPTO_memcmp(known.hash.data(), hash.data(), hash.size()) == 0) found = known.user;
  }
  return found;
}

}  // namespace troupe::server
