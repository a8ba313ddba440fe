#include "tools/etcd/join_tokens.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <charconv>

#include "actors/tokens/bootstrap_token.hpp"
#include "server/credentials/base64url.hpp"
#include "server/credentials/private_file.hpp"
#include "server/credentials/sealed_text.hpp"
#include "server/join/flat_json.hpp"
#include "tools/etcd/defaults.hpp"
#include "tools/join/comma_list.hpp"
#include "tools/join/random_letters.hpp"

namespace troupe::tools {

namespace fs = std::filesystem;

namespace {

fs::path folder_of(const fs::path& data_dir) {
  return data_dir / "tokens";
}

// An unreadable expiry counts as expired.
bool is_over(const server::flat_json& fields, token_time now) {
  const auto text = server::member(fields, "expires");
  std::int64_t seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return token_time{std::chrono::seconds{seconds}} <= now;
}

server::flat_json read(const fs::path& file) {
  const auto text = server::read_private_file(file);
  if (!text || !*text || (*text)->size() > etcd_defaults::file_bytes) return {};
  return server::read_flat_json(**text).value_or(server::flat_json{});
}

// Returns the number of remaining tokens.
std::size_t remove_ended(const fs::path& folder, token_time now) {
  std::size_t left = 0;
  std::error_code failed;
  std::vector<fs::path> ended;
  for (const auto& each : fs::directory_iterator{folder, failed}) {
    if (is_over(read(each.path()), now))
      ended.push_back(each.path());
    else
      ++left;
  }
  for (const auto& each : ended)
    fs::remove(each, failed);
  return left;
}

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

tl::expected<made_token, std::string> make_join_token(const fs::path& data_dir,
                                                      const member_bundle& bundle, token_time now,
                                                      std::chrono::milliseconds lifetime) {
  const auto folder = folder_of(data_dir);
  if (auto made = server::make_private_directory(folder); !made)
    return tl::make_unexpected(made.error());
  if (remove_ended(folder, now) >= etcd_defaults::tokens)
    return tl::make_unexpected(fmt::format("{} tokens are in {} and none has expired: remove some",
                                           etcd_defaults::tokens, folder.string()));
  const auto id = random_letters(token_id_letters), secret = random_letters(token_secret_letters);
  if (id.empty() || secret.empty())
    return tl::make_unexpected(std::string{"no random numbers for the token"});
  const auto key = server::make_sealing_key();
  if (!key) return tl::make_unexpected(key.error());
  const auto sealed = server::seal(
      server::write_flat_json({{"certificate", bundle.authority.certificate},
                               {"key", bundle.authority.private_key},
                               {"endpoints", fmt::format("{}", fmt::join(bundle.endpoints, ","))}}),
      *key, id);
  if (!sealed) return tl::make_unexpected(sealed.error());
  const auto ends = std::chrono::ceil<std::chrono::seconds>(now + lifetime).time_since_epoch();
  const auto text = server::write_flat_json({{"secret", secret},
                                             {"expires", std::to_string(ends.count())},
                                             {"sealed", server::base64url(*sealed)}});
  if (auto written = server::write_private_file(folder / id, text); !written)
    return tl::make_unexpected(written.error());
  return made_token{id + "." + secret, *key};
}

std::string sealed_for(const fs::path& data_dir, std::string_view token, token_time now) {
  const auto parts = actors::split_token(token);  // which also ensures that the id is no path
  if (!parts) return {};
  const auto fields = read(folder_of(data_dir) / std::string{parts->id});
  if (!same(server::member(fields, "secret"), parts->secret) || is_over(fields, now)) return {};
  return server::member(fields, "sealed");
}

tl::expected<member_bundle, std::string> open_bundle(std::string_view sealed,
                                                     const std::string& certificate_key,
                                                     const std::string& token,
                                                     const std::string& authority_hash) {
  const auto raw = server::from_base64url(sealed);
  const auto parts = actors::split_token(token);
  if (!raw || !parts) return tl::make_unexpected(std::string{"the response is invalid"});
  const auto text = server::unseal(*raw, certificate_key, parts->id);
  if (!text)
    return tl::make_unexpected(
        std::string{"--certificate-key does not belong to this token: use the whole command that "
                    "`troupe etcd token` prints"});
  const auto fields = server::read_flat_json(*text);
  if (!fields) return tl::make_unexpected(fields.error());
  member_bundle bundle{{server::member(*fields, "certificate"), server::member(*fields, "key")},
                       split_commas(server::member(*fields, "endpoints"))};
  const auto& authority = bundle.authority;
  if (!server::x509::belongs(authority, authority.certificate) ||
      server::x509::key_hash(authority.certificate) != authority_hash)
    return tl::make_unexpected(std::string{"its response contains another authority"});
  if (bundle.endpoints.empty())
    return tl::make_unexpected(std::string{"the response names no member"});
  return bundle;
}

}  // namespace troupe::tools
