#include "server/credentials/pki.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "actors/defaults.hpp"
#include "server/credentials/addresses.hpp"

namespace troupe::server {
namespace {

using time_point = pki::time_point;

// Clients whose clocks are a little behind accept a fresh certificate.
constexpr std::chrono::minutes backdated{5};
constexpr int backdated_part = 10;  // never more of their life than this

x509::validity from_now(time_point now, std::chrono::milliseconds life) {
  return {now - std::min<std::chrono::milliseconds>(backdated, life / backdated_part), now + life};
}

bool lasts(const std::string& certificate, time_point now) {
  const auto valid = x509::read_validity(certificate);
  if (!valid) return false;
  const auto life = valid->until - valid->from;
  return now >= valid->from &&
         valid->until - now >
             std::chrono::duration_cast<std::chrono::milliseconds>(life * defaults::renew_below);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace

pki::pki(pki_options options) : options_{std::move(options)} {
  names(options_.names);
}

void pki::names(const std::vector<std::string>& extra) {
  names_ = {"localhost", "127.0.0.1", "::1", host_name(), actors::defaults::api_service_address};
  // By which programs in the cluster call the Service (kubeadm: GetAPIServerAltNames).
  for (const auto* name : {"kubernetes", "kubernetes.default", "kubernetes.default.svc",
                           "kubernetes.default.svc.cluster.local"})
    names_.emplace_back(name);
  names_.insert(names_.end(), extra.begin(), extra.end());
  std::erase_if(names_, is_wildcard);
  std::sort(names_.begin(), names_.end());
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

tl::expected<std::unique_ptr<pki>, std::string> pki::open(pki_options options, time_point now) {
  if (auto made = make_private_directory(options.directory); !made)
    return tl::make_unexpected(made.error());
  std::unique_ptr<pki> opened{new pki{std::move(options)}};
  if (auto done = opened->renew(now); !done) return tl::make_unexpected(done.error());
  return opened;
}

tl::expected<bool, std::string> pki::renew(time_point now) {
  auto authority = keep_authority(now);
  if (!authority) return authority;
  auto server = keep("server", {"troupe-server", {}, names_, {}}, now, authority_, server_);
  if (!server) return server;
  auto administrator =
      keep("admin", {"admin", {"system:masters"}, {}, {}}, now, authority_, administrator_);
  if (!administrator) return administrator;
  return *authority || *server || *administrator;
}

tl::expected<bool, std::string> pki::keep_authority(time_point now) {
  auto found = load("ca");
  if (!found) return tl::make_unexpected(found.error());
  authority_ = std::move(*found);
  // A key alone is what a crash at the very first start leaves: nobody knows it yet.
  const bool absent = authority_.certificate.empty();
  if (!absent && !x509::belongs(authority_, authority_.certificate)) {
    const auto path = (options_.directory / "ca").string();
    return tl::make_unexpected(path + ".crt and " + path +
                               ".key do not fit together or are damaged: restore both, or remove "
                               "both to make a new authority (every client then needs a new "
                               "kubeconfig)");
  }
  if (!absent && lasts(authority_.certificate, now)) return false;
  auto made = x509::make_authority("troupe", from_now(now, defaults::authority_life),
                                   authority_.private_key);
  if (!made) return tl::make_unexpected(made.error());
  authority_ = std::move(*made);
  if (auto saved = save("ca", authority_, durability::lasting); !saved)
    return tl::make_unexpected(saved.error());
  spdlog::info("server: {} the certificate authority in {}", absent ? "made" : "renewed",
               options_.directory.string());
  return true;
}

// Who trusted a former one reads the new one where it is published: nothing is lost with its files.
tl::expected<bool, std::string> pki::renew_front_proxy(time_point now) {
  auto found = load("front-proxy-ca");
  if (!found) return tl::make_unexpected(found.error());
  front_authority_ = std::move(*found);
  if (!x509::belongs(front_authority_, front_authority_.certificate) ||
      !lasts(front_authority_.certificate, now)) {
    auto made = x509::make_authority("troupe-front-proxy", from_now(now, defaults::authority_life));
    if (!made) return tl::make_unexpected(made.error());
    front_authority_ = std::move(*made);
    if (auto saved = save("front-proxy-ca", front_authority_, durability::replaceable); !saved)
      return tl::make_unexpected(saved.error());
  }
  return keep("front-proxy-client", {std::string{front_proxy_name}, {}, {}, {}}, now,
              front_authority_, front_);
}

tl::expected<bool, std::string> pki::keep(const char* name, x509::leaf leaf, time_point now,
                                          const x509::identity& authority, x509::identity& held) {
  auto found = load(name);
  if (!found) return tl::make_unexpected(found.error());
  held = std::move(*found);
  if (x509::belongs(held, authority.certificate) && lasts(held.certificate, now) &&
      x509::covers(held.certificate, leaf.names))
    return false;
  leaf.valid = from_now(now, options_.life);
  auto made = x509::issue(authority, leaf);
  if (!made) return tl::make_unexpected(made.error());
  if (auto saved = save(name, *made, durability::replaceable); !saved)
    return tl::make_unexpected(saved.error());
  spdlog::info("server: issued the certificate {}", (options_.directory / name).string() + ".crt");
  held = std::move(*made);
  return true;
}

tl::expected<x509::identity, std::string> pki::load(const char* name) const {
  const auto path = (options_.directory / name).string();
  auto certificate = read_private_file(path + ".crt");
  if (!certificate) return tl::make_unexpected(certificate.error());
  auto key = read_private_file(path + ".key");
  if (!key) return tl::make_unexpected(key.error());
  return x509::identity{certificate->value_or(""), key->value_or("")};
}

// The key first: a crash in between leaves a pair that does not fit, which is made again; only the
// authority's key, once written, stays the same.
tl::expected<void, std::string> pki::save(const char* name, const x509::identity& identity,
                                          durability kept) const {
  const auto path = (options_.directory / name).string();
  if (auto written = write_private_file(path + ".key", identity.private_key, kept); !written)
    return written;
  return write_private_file(path + ".crt", identity.certificate, kept);
}

tls_material pki::server() const {
  // With the authority behind it: a machine that joins knows no more of it than a hash.
  return {server_.certificate + authority_.certificate, server_.private_key,
          authority_.certificate};
}

}  // namespace troupe::server
