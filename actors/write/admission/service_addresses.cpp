#include "actors/write/admission/service_addresses.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <unordered_set>

#include "actors/defaults.hpp"
#include "actors/network/defaults.hpp"
#include "actors/write/admission/service_allocations.hpp"
#include "actors/write/admission/service_families.hpp"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/service_update.hpp"
#include "api/validation/field_errors.hpp"
#include "api/values/service_spec.hpp"

namespace troupe::actors {
namespace {

using api::core::v1::Service;
using api::core::v1::ServicePort;
using api::core::v1::ServiceSpec;
using persistence::snapshot;

// A range whose addresses are numbered from 0, its network address.
struct address_range {
  const api::cidr& range;

  int bits() const { return range.is_v6() ? 128 : 32; }
  std::uint32_t size() const { return std::uint32_t{1} << (bits() - range.prefix_bits()); }
  // The last usable number: IPv4 reserves its last address for broadcast.
  std::uint32_t last() const { return size() - (range.is_v6() ? 1 : 2); }
  std::string at(std::uint32_t number) const { return range.part(bits(), number).address(); }
  bool contains(const std::string& address) const {
    const auto one = api::cidr::parse(fmt::format("{}/{}", address, bits()));
    if (!one || !range.contains(*one)) return false;
    const auto number = range.part_number(bits(), *one);
    return number >= 1 && number <= last();
  }
};

std::uint32_t random_below(std::uint32_t limit) {
  thread_local std::minstd_rand engine{std::random_device{}()};
  return std::uniform_int_distribution<std::uint32_t>{0, limit - 1}(engine);
}

// Picks a free number in [first, last], at random so that concurrent requests rarely choose the
// same. After some failed tries almost all are taken: then it searches linearly.
template <class IsFree>
std::optional<std::uint32_t> pick(std::uint32_t first, std::uint32_t last, IsFree is_free) {
  const auto count = last - first + 1;
  for (int i = 0; i < defaults::allocation_probes; ++i)
    if (const auto candidate = first + random_below(count); is_free(candidate)) return candidate;
  const auto start = random_below(count);
  for (std::uint32_t i = 0; i < count; ++i)
    if (const auto candidate = first + (start + i) % count; is_free(candidate)) return candidate;
  return std::nullopt;
}

// What uses a reserved address; empty: it is not reserved.
std::string_view user_of(const std::string& address) {
  if (address == defaults::api_service_address) return "the Service default/kubernetes has it";
  if (address == network_defaults::dns_address) return "every node serves DNS there, no Service";
  return {};
}

void clear_address(ServiceSpec& spec) {
  spec.clear_cluster_ip();
  spec.clear_cluster_ips();
  spec.clear_ip_families();
  spec.clear_ip_family_policy();
}

}  // namespace

// One allocation: the changes to the Service, and the errors.
class service_addresses::choice {
 public:
  choice(const service_addresses& from, const snapshot& state, Service& service, const Service* was)
      : from_{from},
        state_{state},
        service_{service},
        spec_{*service.mutable_spec()},
        was_{was},
        uid_{service.metadata().uid()} {}

  api::field_errors found;
  std::string exhausted;  // name of the range without free numbers; empty: none

  void addresses() {
    if (spec_.type() == "ExternalName") return clear_address(spec_);
    if (spec_.cluster_ip().empty() && !spec_.cluster_ips().empty())
      spec_.set_cluster_ip(spec_.cluster_ips(0));
    if (spec_.cluster_ips().empty() && !spec_.cluster_ip().empty())
      spec_.add_cluster_ips(spec_.cluster_ip());
    choose_families(service_, was_, from_.ranges_.size() > 1, found);
    if (!found.empty() || api::is_headless(spec_)) return;
    while (spec_.cluster_ips_size() < spec_.ip_families_size())
      spec_.add_cluster_ips();
    for (int i = 0; i < spec_.ip_families_size(); ++i)
      address(*spec_.mutable_cluster_ips(i), spec_.ip_families(i));
    // Remove empty entries of a family for which the cluster has no range.
    while (spec_.cluster_ips_size() > 0 && spec_.cluster_ips().rbegin()->empty())
      spec_.mutable_cluster_ips()->RemoveLast();
    if (!spec_.cluster_ips().empty()) spec_.set_cluster_ip(spec_.cluster_ips(0));
  }

  void ports() {
    if (!api::has_node_ports(spec_)) return;
    for (int i = 0; i < spec_.ports_size(); ++i)
      if (spec_.ports(i).node_port() != 0) take_given(i);
    for (auto& port : *spec_.mutable_ports())
      if (port.node_port() == 0) take_any(port);
  }

 private:
  bool taken_by_other(const std::string& key) const {
    const auto holder = allocation_holder(state_, key);
    return !holder.empty() && holder != uid_;
  }

  // Whether this Service must not have the address although no key of it may exist.
  bool is_reserved(const std::string& address) const {
    const auto& meta = service_.metadata();
    const bool is_api = meta.namespace_() == "default" && meta.name() == "kubernetes";
    return !user_of(address).empty() && !(is_api && address == defaults::api_service_address);
  }

  bool had(const std::string& address) const {
    const auto none = Service{};
    const auto& before = (was_ ? *was_ : none).spec();
    return address == before.cluster_ip() ||
           std::count(before.cluster_ips().begin(), before.cluster_ips().end(), address) > 0;
  }

  // If the cluster has no range of the family, only an address that the Service had is kept.
  void address(std::string& text, const std::string& family) {
    if (!text.empty() && had(text)) return;
    for (const auto& range : from_.ranges_)
      if (range.is_v6() == (family == "IPv6"))
        return text.empty() ? take_any(text, {range}) : take_given(text, {range});
  }

  void take_given(const std::string& text, const address_range& range) {
    const auto complain = [&](std::string_view reason) {
      found.invalid_json("spec.clusterIPs", "[" + api::quoted(text) + "]",
                         fmt::format("failed to allocate IP {}: {}", text, reason));
    };
    if (!range.contains(text))
      return complain("the provided network does not match the current range " +
                      range.range.text());
    const auto canonical = *api::canonical_ip(text);
    if (is_reserved(canonical))
      return complain(fmt::format("provided IP is already allocated: {}", user_of(canonical)));
    if (taken_by_other(address_allocation_key(canonical)))
      return complain("provided IP is already allocated");
  }

  void take_any(std::string& text, const address_range& range) {
    // The lower part is reserved for static addresses (kubernetes: calculateRangeOffset).
    const auto band = std::clamp(range.size() / 16, 16u, 256u);
    const auto low = range.size() > 2 * band ? band : 1;
    const auto is_free = [&](std::uint32_t number) {
      const auto address = range.at(number);
      return !is_reserved(address) && !state_.find(address_allocation_key(address));
    };
    auto found_one = pick(low, range.last(), is_free);
    if (!found_one && low > 1) found_one = pick(1, low - 1, is_free);
    if (!found_one) {
      exhausted = range.range.text();
      return;
    }
    text = range.at(*found_one);
  }

  void take_given(int i) {
    const auto& port = spec_.ports(i);
    const auto field = fmt::format("spec.ports[{}].nodePort", i);
    if (port.node_port() < defaults::first_node_port || port.node_port() > defaults::last_node_port)
      return found.invalid(
          field, port.node_port(),
          fmt::format("provided port is not in the valid range. The range of valid ports is {}-{}",
                      defaults::first_node_port, defaults::last_node_port));
    auto key = port_allocation_key(port.node_port(), port.protocol());
    if (taken_by_other(key) || !own_ports_.insert(std::move(key)).second)
      return found.invalid(field, port.node_port(), "provided port is already allocated");
  }

  void take_any(ServicePort& port) {
    const auto key_of = [&](std::uint32_t number) {
      return port_allocation_key(static_cast<std::int32_t>(number), port.protocol());
    };
    const auto is_free = [&](std::uint32_t number) {
      const auto key = key_of(number);
      return !own_ports_.contains(key) && !state_.find(key);
    };
    const auto number = pick(defaults::first_node_port, defaults::last_node_port, is_free);
    if (!number) {
      exhausted = "the node ports";
      return;
    }
    port.set_node_port(static_cast<std::int32_t>(*number));
    own_ports_.insert(key_of(*number));
  }

  const service_addresses& from_;
  const snapshot& state_;
  Service& service_;
  ServiceSpec& spec_;
  const Service* was_;
  const std::string& uid_;
  std::unordered_set<std::string> own_ports_;  // keys
};

tl::expected<service_addresses, std::string> service_addresses::in(std::string_view network,
                                                                   std::string_view network_v6) {
  const auto failed = [](std::string_view text, std::string_view expected) {
    return tl::make_unexpected(fmt::format("service network \"{}\": expected {}", text, expected));
  };
  const auto between = [](const std::optional<api::cidr>& range, bool v6, int least, int most) {
    return range && range->is_v6() == v6 && range->prefix_bits() >= least &&
           range->prefix_bits() <= most;
  };
  const auto v4 = api::cidr::parse(network), v6 = api::cidr::parse(network_v6);
  if (!between(v4, false, 8, 28))
    return failed(network, "IPv4 in CIDR form between /8 and /28, such as 10.96.0.0/12");
  std::vector<api::cidr> ranges{v4->part(v4->prefix_bits(), 0)};
  if (network_v6.empty()) return service_addresses{std::move(ranges)};
  if (!between(v6, true, 97, 124))
    return failed(network_v6, "IPv6 in CIDR form between /97 and /124, such as fd00:10:96::/112");
  ranges.push_back(v6->part(v6->prefix_bits(), 0));
  return service_addresses{std::move(ranges)};
}

bool service_addresses::handles(const api::kind_info& kind, admission::operation op) const {
  using admission::operation;
  return &kind == &api::kind_of<Service>() && (op == operation::create || op == operation::update);
}

admission::verdict service_addresses::reserve(const admission::attributes& of,
                                              persistence::transaction& into) const {
  auto& service = static_cast<Service&>(*into.mutations.front().content);
  const auto* was = static_cast<const Service*>(of.before);
  const auto& state = of.state;
  choice made{*this, state, service, was};
  made.addresses();
  made.ports();
  if (!made.found.empty())
    return api::fail(
        api::invalid(api::kind_of<Service>(), service.metadata().name(), made.found.take()));
  if (!made.exhausted.empty())
    return api::fail(api::internal("failed to allocate an address or a node port: all of " +
                                   made.exhausted + " are in use"));
  return {};
}

}  // namespace troupe::actors
