#include "server/tokens/account_keys.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>

#include "server/credentials/private_file.hpp"
#include "server/credentials/x509.hpp"

namespace troupe::server {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_keys = 16;

tl::expected<es256::key, std::string> read(const fs::path& path, const std::string& pem) {
  auto key = es256::key::read(pem);
  if (key) return key;
  return tl::make_unexpected(
      path.string() + ": " + key.error() +
      ": restore the file, or remove it (tokens signed with it are then refused)");
}

tl::expected<es256::key, std::string> read_or_make(const fs::path& path) {
  auto pem = read_private_file(path);
  if (!pem) return tl::make_unexpected(pem.error());
  if (!*pem) {
    auto made = x509::make_key();
    if (!made) return tl::make_unexpected(made.error());
    if (auto written = write_private_file(path, *made); !written)
      return tl::make_unexpected(written.error());
    spdlog::info("server: made the key of service account tokens in {}", path.string());
    *pem = std::move(*made);
  }
  auto key = read(path, **pem);
  if (key && !key->signs())
    return tl::make_unexpected(path.string() +
                               ": a public key cannot sign: it belongs into sa-NAME.pub");
  return key;
}

// Sorted by name.
std::vector<fs::path> others_in(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator{directory, problem}) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("sa-") && (name.ends_with(".key") || name.ends_with(".pub")))
      found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

tl::expected<account_keys, std::string> account_keys::open(const fs::path& directory) {
  if (auto made = make_private_directory(directory); !made)
    return tl::make_unexpected(made.error());
  account_keys out;
  auto signing = read_or_make(directory / "sa.key");
  if (!signing) return tl::make_unexpected(signing.error());
  out.keys_.push_back(std::move(*signing));
  for (const auto& path : others_in(directory)) {
    if (out.keys_.size() == most_keys)
      return tl::make_unexpected(directory.string() + ": more than " + std::to_string(most_keys) +
                                 " keys of service account tokens: remove old ones");
    const auto pem = read_private_file(path);
    if (!pem) return tl::make_unexpected(pem.error());
    auto key = read(path, pem->value_or(""));
    if (!key) return tl::make_unexpected(key.error());
    out.keys_.push_back(std::move(*key));
  }
  return out;
}

const es256::key* account_keys::find(std::string_view id) const noexcept {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [id](const auto& each) { return each.id() == id; });
  return found == keys_.end() ? nullptr : &*found;
}

}  // namespace troupe::server
