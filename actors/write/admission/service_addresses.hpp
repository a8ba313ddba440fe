// Cluster addresses and node ports of Services.
//
// Each number that a Service has is a key of the store (service_allocations.hpp): the
// commit makes and removes the keys with the Service. Two requests that choose the same number at
// the same time conflict on its key; the later one chooses again.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "actors/write/admission/plugin.hpp"
#include "api/values/cidr.hpp"

namespace troupe::actors {

// A plugin of admission: it completes a Service when all else has admitted it.
class service_addresses final : public admission::plugin {
 public:
  // `network` is IPv4 in CIDR form, at most /28 and at least /8. `network_v6`: that of a second
  // address, IPv6 of at most /124 and at least /97; empty: Services have none. Otherwise the error
  // says so.
  static tl::expected<service_addresses, std::string> in(std::string_view network,
                                                         std::string_view network_v6 = {});

  std::string_view name() const noexcept override { return "ServiceAddresses"; }
  bool handles(const api::kind_info& kind, admission::operation op) const override;
  // 422 for an address or a port that is taken or out of range, 500 when there is none left.
  //
  // kubernetes: pkg/registry/core/service/{ipallocator,portallocator,storage/alloc.go}.
  admission::verdict reserve(const admission::attributes& of,
                             persistence::transaction& into) const override;

 private:
  explicit service_addresses(std::vector<api::cidr> ranges) : ranges_{std::move(ranges)} {}

  class choice;

  std::vector<api::cidr> ranges_;  // the first is IPv4; of IPv6 at most one
};

}  // namespace troupe::actors
