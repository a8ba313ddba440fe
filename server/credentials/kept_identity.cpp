#include "server/credentials/kept_identity.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "server/credentials/private_file.hpp"
#include "server/defaults.hpp"

namespace troupe::server {
namespace {

namespace fs = std::filesystem;
template <class T>
using expected = tl::expected<T, std::string>;

// The start of validity lies in the past, for clients with slow clocks.
constexpr std::chrono::minutes backdated{5};
constexpr int backdated_part = 10;  // at most this part (1/n) of the certificate's life

x509::validity from_now(x509::time_point now, std::chrono::milliseconds lifetime) {
  return {now - std::min<std::chrono::milliseconds>(backdated, lifetime / backdated_part),
          now + lifetime};
}

bool lasts(const std::string& certificate, x509::time_point now) {
  const auto valid = x509::read_validity(certificate);
  if (!valid) return false;
  const auto lifetime = valid->until - valid->from;
  return now >= valid->from &&
         valid->until - now > std::chrono::duration_cast<std::chrono::milliseconds>(
                                  lifetime * defaults::renew_below);
}

expected<x509::identity> load(const fs::path& directory, const std::string& name) {
  auto certificate = read_private_file(directory / (name + ".crt"));
  if (!certificate) return tl::make_unexpected(certificate.error());
  auto key = read_private_file(directory / (name + ".key"));
  if (!key) return tl::make_unexpected(key.error());
  return x509::identity{certificate->value_or(""), key->value_or("")};
}

// Writes the key first: a crash in between leaves a pair that does not match, which is made again;
// only the authority's key, once written, is never replaced.
expected<void> save(const fs::path& directory, const std::string& name,
                    const x509::identity& identity, durability kept) {
  if (auto written = write_private_file(directory / (name + ".key"), identity.private_key, kept);
      !written)
    return written;
  return write_private_file(directory / (name + ".crt"), identity.certificate, kept);
}

}  // namespace

expected<bool> keep_authority(const fs::path& directory, const std::string& common_name,
                              x509::time_point now, x509::identity& held) {
  auto found = load(directory, "ca");
  if (!found) return tl::make_unexpected(found.error());
  held = std::move(*found);
  // A key without a certificate is left by a crash at the first start: it was not used yet.
  const bool absent = held.certificate.empty();
  if (!absent && !x509::belongs(held, held.certificate)) {
    const auto path = (directory / "ca").string();
    return tl::make_unexpected(path + ".crt and " + path +
                               ".key do not match or are damaged: restore both, or remove "
                               "both to make a new authority (every client then needs a new "
                               "kubeconfig)");
  }
  if (!absent && lasts(held.certificate, now)) return false;
  auto made = x509::make_authority(common_name, from_now(now, defaults::authority_lifetime),
                                   held.private_key);
  if (!made) return tl::make_unexpected(made.error());
  held = std::move(*made);
  if (auto saved = save(directory, "ca", held, durability::lasting); !saved)
    return tl::make_unexpected(saved.error());
  spdlog::info("server: {} the certificate authority in {}", absent ? "made" : "renewed",
               directory.string());
  return true;
}

expected<bool> keep_replaceable_authority(const fs::path& directory, const std::string& name,
                                          const std::string& common_name, x509::time_point now,
                                          x509::identity& held) {
  auto found = load(directory, name);
  if (!found) return tl::make_unexpected(found.error());
  held = std::move(*found);
  if (x509::belongs(held, held.certificate) && lasts(held.certificate, now)) return false;
  auto made = x509::make_authority(common_name, from_now(now, defaults::authority_lifetime));
  if (!made) return tl::make_unexpected(made.error());
  held = std::move(*made);
  if (auto saved = save(directory, name, held, durability::replaceable); !saved)
    return tl::make_unexpected(saved.error());
  return true;
}

expected<bool> keep_identity(const fs::path& directory, const std::string& name,
                             const x509::identity& authority, x509::leaf leaf,
                             std::chrono::milliseconds lifetime, x509::time_point now,
                             x509::identity& held) {
  auto found = load(directory, name);
  if (!found) return tl::make_unexpected(found.error());
  held = std::move(*found);
  if (x509::belongs(held, authority.certificate) && lasts(held.certificate, now) &&
      x509::covers(held.certificate, leaf.names))
    return false;
  leaf.valid = from_now(now, lifetime);
  auto made = x509::issue(authority, leaf);
  if (!made) return tl::make_unexpected(made.error());
  if (auto saved = save(directory, name, *made, durability::replaceable); !saved)
    return tl::make_unexpected(saved.error());
  spdlog::info("server: issued the certificate {}", (directory / name).string() + ".crt");
  held = std::move(*made);
  return true;
}

}  // namespace troupe::server
