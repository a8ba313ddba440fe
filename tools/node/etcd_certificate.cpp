#include "tools/node/etcd_certificate.hpp"

#include <fmt/chrono.h>
#include <spdlog/spdlog.h>

#include <utility>

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
      "the certificate for etcd that was read from {} at the start is valid until "
      "{:%Y-%m-%dT%H:%M:%SZ}: replace it and its key, and restart this control plane",
      file.string(), fmt::gmtime(std::chrono::system_clock::to_time_t(valid->until)));
}

etcd_certificate::etcd_certificate(std::filesystem::path file)
    : file_{std::move(file)},
      text_{file_.empty() ? std::string{} : server::read_file(file_).value_or("")} {}

void etcd_certificate::warn() const {
  if (const auto text = certificate_warning(text_, file_, std::chrono::system_clock::now()))
    spdlog::warn("store: {}", *text);
}

}  // namespace troupe::tools
