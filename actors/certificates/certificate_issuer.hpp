// Who holds the key of the cluster's authority, as controllers see it.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "runtime/clock.hpp"

namespace troupe::actors {

struct certificate_order {
  std::string request;  // PKCS#10, PEM: its subject, alternative names and key are taken over
  std::vector<std::string> usages;  // as Kubernetes names them: "client auth"
  runtime::wall_time from, until;
};

// Thread safe, does not block.
class certificate_issuer {
 public:
  virtual ~certificate_issuer() = default;
  // False: the key is not there yet.
  virtual bool is_ready() const = 0;
  // The certificate, PEM. It does not outlast the authority. The error says why there is none.
  virtual tl::expected<std::string, std::string> certify(const certificate_order& order) const = 0;
};

}  // namespace troupe::actors
