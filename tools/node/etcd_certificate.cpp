#include "tools/node/etcd_certificate.hpp"

#include <fmt/chrono.h>
#include <spdlog/spdlog.h>

#include "server/credentials/kubeconfig.hpp"
#include "server/credentials/x509.hpp"
#include "tools/defaults.hpp"

namespace troupe::tools {

std::optional<std::string> certificate_warning(const std::string& certificate,
                                               const std::filesystem::path& file,
                                               std::chrono::system_clock::time_point now) {
  const auto valid = server::x509::read_validity(certificate);
  if (!valid) return std::nullopt;
  const std::chrono::duration<double> life = valid->until - valid->from, left = valid->until - now;
  if (left > life * defaults::etcd_certificate_part) return std::nullopt;
  return fmt::format(
      "the certificate for etcd in {} is valid until {:%Y-%m-%dT%H:%M:%SZ}: replace it and its "
      "key, "
      "this control plane then uses them",
      file.string(), fmt::gmtime(std::chrono::system_clock::to_time_t(valid->until)));
}

void warn_of_certificate_end(const std::filesystem::path& file) {
  if (file.empty()) return;
  const auto now = std::chrono::system_clock::now();
  if (const auto text = certificate_warning(server::read_file(file).value_or(""), file, now))
    spdlog::warn("store: {}", *text);
}

}  // namespace troupe::tools
