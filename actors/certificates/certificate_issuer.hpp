// The holder of the key of the cluster's CA, as controllers see it.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "runtime/clock.hpp"

namespace troupe::actors {

struct certificate_options {
  std::string request;  // PKCS#10 in PEM: its subject, alternative names and key are used
  std::vector<std::string> usages;  // Kubernetes' names: "client auth"
  runtime::wall_time from, until;
};

// Thread safe, does not block.
class certificate_issuer {
 public:
  virtual ~certificate_issuer() = default;
  // False: the key is not available yet.
  virtual bool is_ready() const = 0;
  // The certificate in PEM, or why there is none. It does not outlive the CA's certificate.
  virtual tl::expected<std::string, std::string> certify(
      const certificate_options& options) const = 0;
};

}  // namespace troupe::actors
