// Signs the certificates of nodes, and those that CertificateSigningRequests ask for, with the
// authority of api_frontend, which hands it in at its start and whenever it is renewed. Thread
// safe.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <tl/expected.hpp>

#include "actors/certificates/certificate_issuer.hpp"
#include "server/credentials/x509.hpp"

namespace troupe::server {

class node_signer : public actors::certificate_issuer {
 public:
  explicit node_signer(std::chrono::milliseconds life) : life_{life} {}

  void replace(x509::identity authority);
  // Its certificate, PEM; empty before api_frontend has started.
  std::string authority() const;

  // For CN=system:node:NAME, O=system:nodes, O=troupe:joined-nodes and nothing else, good for a
  // client only.
  tl::expected<std::string, std::string> certify(const std::string& node,
                                                 const std::string& public_key,
                                                 x509::time_point now) const;

  bool is_ready() const override;
  tl::expected<std::string, std::string> certify(
      const actors::certificate_order& order) const override;

 private:
  x509::identity held() const;

  const std::chrono::milliseconds life_;
  mutable std::mutex mutex_;
  x509::identity authority_;
};

}  // namespace troupe::server
