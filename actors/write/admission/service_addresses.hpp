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
  // `network` is IPv4 in CIDR form, at most /28 and at least /8. `network_v6`: that of a second
  // address, IPv6 of at most /124 and at least /97; empty: Services have none. Otherwise the error
  // says so.
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

  std::vector<api::cidr> ranges_;  // the first is IPv4; of IPv6 at most one
};

}  // namespace troupe::actors
