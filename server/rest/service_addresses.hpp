// Cluster addresses and node ports of Services.
//
// What is taken is what the Services in the store say, so nothing has to be given back and nothing
// can leak. Two requests that choose at the same time both change the lease "service-addresses" in
// their transaction; the later one is told of a conflict and chooses again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "api/error.hpp"
#include "persistence/snapshot.hpp"
#include "persistence/store.hpp"

namespace troupe::api::core::v1 {
class Service;
}

namespace troupe::server {

class service_addresses {
 public:
  // `network` is IPv4 in CIDR form, at most /28 and at least /8; otherwise the error says so.
  static tl::expected<service_addresses, std::string> in(std::string_view network);

  // Takes off what a change of the type makes meaningless, where the client only repeats what was:
  // before the Service is validated, for there it would be refused.
  static void drop_leftovers(api::core::v1::Service& now, const api::core::v1::Service& was);

  // Completes the Service that is the first mutation of `into` (its state before in `was`, null for
  // a new one) and adds what keeps others from choosing the same. 422 for an address or a port that
  // is taken or out of range, 500 when there is none left.
  //
  // kubernetes: pkg/registry/core/service/{ipallocator,portallocator,storage/alloc.go}.
  api::expected<void> assign(const persistence::snapshot& state, const api::core::v1::Service* was,
                             persistence::transaction& into) const;

 private:
  service_addresses(std::uint32_t base, unsigned prefix) : base_{base}, prefix_{prefix} {}

  std::uint32_t size() const noexcept { return std::uint32_t{1} << (32 - prefix_); }
  bool contains(std::uint32_t address) const noexcept;
  std::string text() const;

  class choice;

  std::uint32_t base_;
  unsigned prefix_;
};

}  // namespace troupe::server
