// Cluster addresses and node ports of Services.
//
// Each number of a Service is a key of the store (service_allocations.hpp), created and removed in
// the transaction that creates or removes the Service. Two concurrent requests for the same number
// conflict on its key; the later one chooses again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "actors/write/admission/plugin.hpp"

namespace troupe::actors {

// An admission plugin: it completes a Service after all other plugins have admitted it.
class service_addresses final : public admission::plugin {
 public:
  // `network` is IPv4 in CIDR form, between /8 and /28; anything else returns an error.
  static tl::expected<service_addresses, std::string> in(std::string_view network);

  std::string_view name() const noexcept override { return "ServiceAddresses"; }
  bool handles(const api::kind_info& kind, admission::operation op) const override;
  // 422 if an address or port is taken or out of range, 500 if none is free.
  //
  // kubernetes: pkg/registry/core/service/{ipallocator,portallocator,storage/alloc.go}.
  admission::verdict reserve(const admission::attributes& of,
                             persistence::transaction& into) const override;

 private:
  service_addresses(std::uint32_t base, unsigned prefix) : base_{base}, prefix_{prefix} {}

  std::uint32_t size() const noexcept { return std::uint32_t{1} << (32 - prefix_); }
  bool contains(std::uint32_t address) const noexcept;
  std::string text() const;

  class choice;

  std::uint32_t base_;
  unsigned prefix_;
};

}  // namespace troupe::actors
