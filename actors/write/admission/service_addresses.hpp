// Cluster addresses and node ports of Services.
//
// Each number of a Service is a key of the store (service_allocations.hpp), created and removed in
// the transaction that creates or removes the Service. Two concurrent requests for the same number
// conflict on its key; the later one chooses again.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "actors/write/admission/plugin.hpp"
#include "api/values/cidr.hpp"

namespace troupe::actors {

// An admission plugin: it completes a Service after all other plugins have admitted it.
class service_addresses final : public admission::plugin {
 public:
  // `network`: the range of IPv4 addresses in CIDR form, between /8 and /28. `network_v6`: that of
  // IPv6 addresses, between /97 and /124; empty: Services have only IPv4 addresses. Any other text
  // returns an error.
  static tl::expected<service_addresses, std::string> in(std::string_view network,
                                                         std::string_view network_v6 = {});

  std::string_view name() const noexcept override { return "ServiceAddresses"; }
  bool handles(const api::kind_info& kind, admission::operation op) const override;
  // 422 if an address or port is taken or out of range, 500 if none is free.
  //
  // kubernetes: pkg/registry/core/service/{ipallocator,portallocator,storage/alloc.go}.
  admission::verdict reserve(const admission::attributes& of,
                             persistence::transaction& into) const override;

 private:
  explicit service_addresses(std::vector<api::cidr> ranges) : ranges_{std::move(ranges)} {}

  class choice;

  std::vector<api::cidr> ranges_;  // IPv4, then optionally IPv6
};

}  // namespace troupe::actors
