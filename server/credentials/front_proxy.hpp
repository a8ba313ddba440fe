// The client credentials for servers of aggregated APIs: requests to them name the user in headers,
// which they accept only with this certificate.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "server/credentials/x509.hpp"

namespace troupe::server {

// The common name, the only one allowed (requestheader-allowed-names; kubeadm's).
inline constexpr std::string_view front_proxy_name = "front-proxy-client";

struct front_proxy_credentials {
  std::string authority;  // PEM, published for those servers
  x509::identity client;
};

// The current credentials; replaced by the owner of the keys when they are renewed. Thread safe.
class front_proxy {
 public:
  front_proxy_credentials credentials() const {
    const std::lock_guard lock{mutex_};
    return credentials_;
  }
  void replace(front_proxy_credentials credentials) {
    const std::lock_guard lock{mutex_};
    credentials_ = std::move(credentials);
  }

 private:
  mutable std::mutex mutex_;
  front_proxy_credentials credentials_;
};

}  // namespace troupe::server
