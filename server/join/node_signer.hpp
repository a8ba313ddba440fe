// Signs certificates of nodes, and CertificateSigningRequests, with the
// authority of api_frontend, which passes it at the start and at each renewal.
// Thread safe.
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
  explicit node_signer(std::chrono::milliseconds lifetime) : lifetime_{lifetime} {}

  void replace(x509::identity authority);
  // The authority's certificate, PEM; empty before api_frontend has started.
  std::string authority() const;

  // A certificate for CN=system:node:NAME, O=system:nodes, O=troupe:joined-nodes, without other
  // names, for clients only.
  tl::expected<std::string, std::string> certify(const std::string& node,
                                                 const std::string& public_key,
                                                 x509::time_point now) const;

  bool is_ready() const override;
  tl::expected<std::string, std::string> certify(
      const actors::certificate_options& options) const override;

 private:
  x509::identity held() const;

  const std::chrono::milliseconds lifetime_;
  mutable std::mutex mutex_;
  x509::identity authority_;
};

}  // namespace troupe::server
