#include "actors/write/admission/service_allocations.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/schema/core_service.pb.h"
#include "api/schema/internal_v1.pb.h"
#include "api/scheme.hpp"
#include "api/values/cidr.hpp"

namespace troupe::actors {

namespace {

using api::allocation::v1::ServiceAllocation;
using api::core::v1::Service;
using persistence::snapshot;

// The allocation keys of a Service, without duplicates.
std::vector<std::string> keys_of(const Service& service) {
  std::vector<std::string> keys;
  const auto& spec = service.spec();
  const auto add = [&](std::string key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  };
  const auto add_address = [&](const std::string& text) {
    if (const auto address = api::canonical_ip(text)) add(address_allocation_key(*address));
  };
  add_address(spec.cluster_ip());
  const auto& all = spec.cluster_ips();
  for (int i = 1; i < all.size() && all[0] == spec.cluster_ip(); ++i)
    add_address(all[i]);
  for (const auto& port : spec.ports())
    if (port.node_port() != 0) add(port_allocation_key(port.node_port(), port.protocol()));
  return keys;
}

void add_key(const Service& service, std::string key, persistence::transaction& into) {
  auto made = std::make_unique<ServiceAllocation>();
  made->mutable_metadata()->set_name(key.substr(key.rfind('/') + 1));
  const auto& holder = service.metadata();
  *made->mutable_metadata()->mutable_creation_timestamp() = holder.creation_timestamp();
  made->set_service_namespace(holder.namespace_());
  made->set_service_name(holder.name());
  made->set_service_uid(holder.uid());
  into.preconditions.push_back({key, 0});
  into.mutations.push_back({std::move(key), &api::kind_of<ServiceAllocation>(), std::move(made)});
}

void remove_key(const api::object& allocation, std::string key, persistence::transaction& into) {
  into.preconditions.push_back({key, allocation.revision()});
  into.mutations.push_back({std::move(key), &allocation.kind(), nullptr});
}

bool holds(const Service& service, const api::object_ptr& allocation) {
  return allocation &&
         allocation->as<ServiceAllocation>().service_uid() == service.metadata().uid();
}

// A number that the Service had before without a key stays so until it is repaired.
void follow(const snapshot& state, const Service* was, const Service* now,
            persistence::transaction& into) {
  const auto before = was != nullptr ? keys_of(*was) : std::vector<std::string>{};
  const auto after = now != nullptr ? keys_of(*now) : std::vector<std::string>{};
  const auto among = [](const auto& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (const auto& key : before)
    if (!among(after, key))
      if (const auto found = state.find(key); holds(*was, found)) remove_key(*found, key, into);
  for (const auto& key : after)
    if (!among(before, key)) add_key(*now, key, into);
}

}  // namespace

std::string address_allocation_key(std::string_view address) {
  return api::kind_of<ServiceAllocation>().key({}, address);
}

std::string port_allocation_key(std::int32_t port, std::string_view protocol) {
  const auto* word = protocol == "UDP" ? "udp" : protocol == "SCTP" ? "sctp" : "tcp";
  return api::kind_of<ServiceAllocation>().key({}, fmt::format("{}-{}", word, port));
}

bool is_allocation_key(std::string_view key) noexcept {
  static const auto prefix = api::kind_of<ServiceAllocation>().prefix();
  return key.starts_with(prefix);
}

std::string allocation_holder(const snapshot& state, const std::string& key) {
  const auto found = state.find(key);
  return found ? found->as<ServiceAllocation>().service_uid() : std::string{};
}

void follow_services(const persistence::store& store, persistence::transaction& transaction) {
  static const auto* services = &api::kind_of<Service>();
  const auto is_service = [](const auto& each) { return each.kind == services; };
  if (std::none_of(transaction.mutations.begin(), transaction.mutations.end(), is_service)) return;
  const auto state = store.read();
  const auto count = transaction.mutations.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_service(transaction.mutations[i])) continue;
    const auto was = state.find(transaction.mutations[i].key);
    // The content's address is stable while the list of mutations grows.
    const auto* now = static_cast<const Service*>(transaction.mutations[i].content.get());
    follow(state, was ? &was->as<Service>() : nullptr, now, transaction);
  }
}

allocation_repair repair_allocations(const snapshot& state, std::size_t most) {
  allocation_repair repair;
  std::unordered_map<std::string, std::string> holders;  // uid by key
  const auto room = [&] { return repair.transaction.mutations.size() < most; };
  const auto take = [&](const api::object_ptr& object) {
    const auto& service = object->as<Service>();
    bool first = true;
    for (const auto& key : keys_of(service)) {
      if (!holders.emplace(key, service.metadata().uid()).second) {
        ++repair.doubled;
        continue;
      }
      if (state.find(key) || !room()) continue;
      ++repair.missing;
      if (std::exchange(first, false))
        repair.transaction.preconditions.push_back(
            {object->kind().key(service.metadata().namespace_(), service.metadata().name()),
             object->revision()});
      add_key(service, key, repair.transaction);
    }
    return true;
  };
  state.scan(api::kind_of<Service>().prefix(), {},
             [&](std::string_view, const api::object_ptr& object) { return take(object); });
  const auto prefix = api::kind_of<ServiceAllocation>().prefix();
  state.scan(prefix, {}, [&](std::string_view key, const api::object_ptr& found) {
    const auto holder = holders.find(std::string{key});
    const auto& uid = found->as<ServiceAllocation>().service_uid();
    if (holder != holders.end() && holder->second == uid) return true;
    if (!room()) return false;
    ++repair.leaked;
    remove_key(*found, std::string{key}, repair.transaction);
    return true;
  });
  return repair;
}

}  // namespace troupe::actors
