#include "server/join/node_signer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "actors/access/node_identity.hpp"
#include "server/join/defaults.hpp"

namespace troupe::server {
namespace {

struct usage_word {
  std::string_view usage, word;
};

// The usages' names in Kubernetes and OpenSSL (kubernetes: client-go/util/certificate/csr).
constexpr std::array key_usages{
    usage_word{"signing", "digitalSignature"},
    usage_word{"digital signature", "digitalSignature"},
    usage_word{"content commitment", "nonRepudiation"},
    usage_word{"key encipherment", "keyEncipherment"},
    usage_word{"key agreement", "keyAgreement"},
    usage_word{"data encipherment", "dataEncipherment"},
    usage_word{"cert sign", "keyCertSign"},
    usage_word{"crl sign", "cRLSign"},
    usage_word{"encipher only", "encipherOnly"},
    usage_word{"decipher only", "decipherOnly"},
};
constexpr std::array extended_usages{
    usage_word{"any", "anyExtendedKeyUsage"},
    usage_word{"server auth", "serverAuth"},
    usage_word{"client auth", "clientAuth"},
    usage_word{"code signing", "codeSigning"},
    usage_word{"email protection", "emailProtection"},
    usage_word{"s/mime", "emailProtection"},
    usage_word{"ipsec end system", "ipsecEndSystem"},
    usage_word{"ipsec tunnel", "ipsecTunnel"},
    usage_word{"ipsec user", "ipsecUser"},
    usage_word{"timestamping", "timeStamping"},
    usage_word{"ocsp signing", "OCSPSigning"},
    usage_word{"microsoft sgc", "msSGC"},
    usage_word{"netscape sgc", "nsSGC"},
};

template <class Words>
std::string words_of(const std::vector<std::string>& usages, const Words& words) {
  std::set<std::string_view> chosen;
  for (const auto& each : words)
    if (std::find(usages.begin(), usages.end(), each.usage) != usages.end())
      chosen.insert(each.word);
  return fmt::format("{}", fmt::join(chosen, ","));
}

}  // namespace

void node_signer::replace(x509::identity authority) {
  const std::lock_guard lock{mutex_};
  authority_ = std::move(authority);
}

std::string node_signer::authority() const {
  const std::lock_guard lock{mutex_};
  return authority_.certificate;
}

tl::expected<std::string, std::string> node_signer::certify(const std::string& node,
                                                            const std::string& public_key,
                                                            x509::time_point now) const {
  const auto early = std::min<std::chrono::milliseconds>(join_defaults::backdated,
                                                         lifetime_ / join_defaults::backdated_part);
  x509::leaf leaf;
  leaf.common_name = std::string{actors::node_user_prefix} + node;
  leaf.organizations = {std::string{actors::nodes_group}, std::string{actors::joined_nodes_group}};
  leaf.valid = {now - early, now + lifetime_};
  return x509::certify(held(), leaf, public_key);
}

bool node_signer::is_ready() const {
  const std::lock_guard lock{mutex_};
  return !authority_.private_key.empty();
}

tl::expected<std::string, std::string> node_signer::certify(
    const actors::certificate_options& options) const {
  return x509::certify_request(held(), options.request,
                               {.valid = {options.from, options.until},
                                .key_usage = words_of(options.usages, key_usages),
                                .extended_key_usage = words_of(options.usages, extended_usages)});
}

x509::identity node_signer::held() const {
  const std::lock_guard lock{mutex_};
  return authority_;
}

}  // namespace troupe::server
