#include "actors/write/admission/service_addresses.hpp"

#include <arpa/inet.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <random>
#include <string>
#include <unordered_set>

#include "actors/defaults.hpp"
#include "actors/write/admission/service_allocations.hpp"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/service_update.hpp"
#include "api/validation/findings.hpp"

namespace troupe::actors {
namespace {

using api::core::v1::Service;
using api::core::v1::ServicePort;
using api::core::v1::ServiceSpec;
using persistence::snapshot;

std::optional<std::uint32_t> parse_address(const std::string& text) {
  in_addr parsed{};
  if (::inet_pton(AF_INET, text.c_str(), &parsed) != 1) return std::nullopt;
  return ntohl(parsed.s_addr);
}

std::string format_address(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255,
                     address & 255);
}

bool headless(const ServiceSpec& spec) {
  return spec.cluster_ip() == "None";
}

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

void clear_address(ServiceSpec& spec) {
  spec.clear_cluster_ip();
  spec.clear_cluster_ips();
  spec.clear_ip_families();
  spec.clear_ip_family_policy();
}

void set_address(ServiceSpec& spec, const std::string& address) {
  spec.set_cluster_ip(address);
  spec.clear_cluster_ips();
  spec.add_cluster_ips(address);
  if (spec.ip_families().empty()) spec.add_ip_families("IPv4");
  if (!spec.has_ip_family_policy()) spec.set_ip_family_policy("SingleStack");
}

}  // namespace

// One allocation: the changes to the Service, and the errors.
class service_addresses::choice {
 public:
  choice(const service_addresses& from, const snapshot& state, Service& service, const Service* was)
      : from_{from},
        state_{state},
        spec_{*service.mutable_spec()},
        was_{was},
        uid_{service.metadata().uid()} {}

  api::findings found;
  bool exhausted = false;

  void address() {
    if (spec_.cluster_ip().empty() && !spec_.cluster_ips().empty())
      spec_.set_cluster_ip(spec_.cluster_ips(0));
    if (spec_.type() == "ExternalName") return clear_address(spec_);
    if (headless(spec_)) return set_address(spec_, "None");
    if (was_ != nullptr && !spec_.cluster_ip().empty() &&
        spec_.cluster_ip() == was_->spec().cluster_ip())
      return set_address(spec_, spec_.cluster_ip());
    if (!spec_.cluster_ip().empty()) return take_given();
    take_any();
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

  void take_given() {
    const auto& text = spec_.cluster_ip();
    const auto address = parse_address(text);
    const auto complain = [&](std::string_view reason) {
      found.invalid_json("spec.clusterIPs", "[" + api::quoted(text) + "]",
                         fmt::format("failed to allocate IP {}: {}", text, reason));
    };
    if (!address || !from_.contains(*address))
      return complain("the provided network does not match the current range " + from_.text());
    if (taken_by_other(address_allocation_key(text)))
      return complain("provided IP is already allocated");
    set_address(spec_, spec_.cluster_ip());
  }

  void take_any() {
    // The lower part is reserved for static addresses (kubernetes: calculateRangeOffset).
    const auto band = std::clamp(from_.size() / 16, 16u, 256u);
    const auto low = from_.size() > 2 * band ? band : 1;
    const auto last = from_.base_ + from_.size() - 2;
    const auto is_free = [&](std::uint32_t address) {
      return !state_.find(address_allocation_key(format_address(address)));
    };
    auto found_one = pick(from_.base_ + low, last, is_free);
    if (!found_one && low > 1) found_one = pick(from_.base_ + 1, from_.base_ + low - 1, is_free);
    if (!found_one) {
      exhausted = true;
      return;
    }
    set_address(spec_, format_address(*found_one));
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
      exhausted = true;
      return;
    }
    port.set_node_port(static_cast<std::int32_t>(*number));
    own_ports_.insert(key_of(*number));
  }

  const service_addresses& from_;
  const snapshot& state_;
  ServiceSpec& spec_;
  const Service* was_;
  const std::string& uid_;
  std::unordered_set<std::string> own_ports_;  // keys
};

tl::expected<service_addresses, std::string> service_addresses::in(std::string_view network) {
  const auto slash = network.find('/');
  const auto base = parse_address(std::string{network.substr(0, slash)});
  unsigned prefix = 0;
  const auto digits = slash == std::string_view::npos ? "" : network.substr(slash + 1);
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (!base || problem != std::errc{} || end != digits.data() + digits.size() || prefix < 8 ||
      prefix > 28)
    return tl::make_unexpected("service network \"" + std::string{network} +
                               "\": expected IPv4 in CIDR form between /8 and /28, such as "
                               "10.96.0.0/12");
  const auto mask = ~std::uint32_t{0} << (32 - prefix);
  return service_addresses{*base & mask, prefix};
}

bool service_addresses::contains(std::uint32_t address) const noexcept {
  return address > base_ && address < base_ + size() - 1;
}

std::string service_addresses::text() const {
  return fmt::format("{}/{}", format_address(base_), prefix_);
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
  made.address();
  made.ports();
  if (!made.found.empty())
    return api::fail(
        api::invalid(api::kind_of<Service>(), service.metadata().name(), made.found.take()));
  if (made.exhausted)
    return api::fail(api::internal("failed to allocate an address or a node port: all of " +
                                   text() + " or of the node ports are in use"));
  return {};
}

}  // namespace troupe::actors
