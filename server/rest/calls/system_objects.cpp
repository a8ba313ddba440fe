#include "server/rest/calls/system_objects.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "actors/access/default_policy.hpp"
#include "actors/controllers/root_ca/root_ca.hpp"
#include "actors/defaults.hpp"
#include "actors/definitions/api_service_rules.hpp"
#include "actors/write/admission/service_allocations.hpp"
#include "actors/write/creation.hpp"
#include "api/equality.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/scheduling_v1.pb.h"
#include "api/scheme.hpp"
#include "api/validation/system_namespaces.hpp"
#include "api/validation/system_priorities.hpp"
#include "runtime/actor_system.hpp"
#include "server/credentials/front_proxy.hpp"
#include "server/rest/defaults.hpp"

namespace troupe::server {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::scheduling::v1::PriorityClass;

std::vector<std::unique_ptr<api::body>> system_objects() {
  std::vector<std::unique_ptr<api::body>> out;
  for (const auto* name : api::system_namespaces) {
    auto made = std::make_unique<Namespace>();
    made->mutable_metadata()->set_name(name);
    out.push_back(std::move(made));
  }
  for (const auto& each : api::system_priorities) {
    auto made = std::make_unique<PriorityClass>();
    made->mutable_metadata()->set_name(std::string{each.name});
    made->set_value(each.value);
    made->set_description(std::string{each.about});
    out.push_back(std::move(made));
  }
  return out;
}

// Adds the object to `into` unless it exists.
tl::expected<void, std::string> add_missing(actors::control_plane& plane,
                                            const persistence::snapshot& state,
                                            std::unique_ptr<api::body> content,
                                            persistence::transaction& into) {
  const auto& kind = api::kind_of_type(*content->GetDescriptor());
  const auto& meta = api::meta_of(*content);
  if (state.find(kind.key(meta.namespace_(), meta.name()))) return {};
  std::mt19937_64 random{std::random_device{}()};
  auto made = actors::create_transaction(state, kind, std::move(content), actors::checks::all,
                                         plane.system().time().wall_now(), random);
  if (!made) return tl::make_unexpected(made.error().message);
  for (auto& each : made->preconditions)
    into.preconditions.push_back(std::move(each));
  for (auto& each : made->mutations)
    into.mutations.push_back(std::move(each));
  return {};
}

tl::expected<void, std::string> add_missing(actors::control_plane& plane,
                                            persistence::transaction& into) {
  const auto state = plane.store().read();
  for (auto& content : system_objects())
    if (auto added = add_missing(plane, state, std::move(content), into); !added) return added;
  return {};
}

constexpr const char* authentication_name = "extension-apiserver-authentication";

// Keeps the authorities of other control planes.
void set_front_proxy(ConfigMap& map, const std::string& authority) {
  if (authority.empty()) return;
  auto& data = *map.mutable_data();
  auto& authorities = data["requestheader-client-ca-file"];
  if (authorities.find(authority) == authorities.npos) authorities += authority;
  data["requestheader-allowed-names"] = fmt::format(R"(["{}"])", front_proxy_name);
  data["requestheader-username-headers"] = R"(["X-Remote-User"])";
  data["requestheader-uid-headers"] = R"(["X-Remote-Uid"])";
  data["requestheader-group-headers"] = R"(["X-Remote-Group"])";
  data["requestheader-extra-headers-prefix"] = R"(["X-Remote-Extra-"])";
}

// The map by which aggregated servers authenticate clients and the front proxy (kubernetes:
// controlplane/controller/clusterauthenticationtrust).
std::unique_ptr<ConfigMap> authentication_map(const std::string& certificates,
                                              const std::string& front_proxy_authority) {
  auto made = std::make_unique<ConfigMap>();
  made->mutable_metadata()->set_name(authentication_name);
  made->mutable_metadata()->set_namespace_("kube-system");
  (*made->mutable_data())["client-ca-file"] = certificates;
  set_front_proxy(*made, front_proxy_authority);
  return made;
}

// Updates an existing map, made earlier or by another control plane.
void update_front_proxy(const persistence::snapshot& state, const std::string& authority,
                        persistence::transaction& into) {
  const auto& kind = api::kind_of<ConfigMap>();
  auto key = kind.key("kube-system", authentication_name);
  const auto found = state.find(key);
  if (!found) return;
  auto changed = found->copy_as<ConfigMap>();
  set_front_proxy(*changed, authority);
  if (api::same_meaning(*changed, found->content())) return;
  into.preconditions.push_back({key, found->revision()});
  into.mutations.push_back({std::move(key), &kind, std::move(changed)});
}

void add_defaults(actors::control_plane& plane, persistence::transaction& into) {
  std::mt19937_64 random{std::random_device{}()};
  const auto state = plane.store().read();
  const auto now = plane.system().time().wall_now();
  actors::access::reconcile_policy(state, now, random, into);
  actors::reconcile_api_services(state, now, random, into);
}

// Waits for the disk. Writes directly to the store: a full cluster must be able to start.
tl::expected<persistence::outcome, std::string> commit_now(actors::control_plane& plane,
                                                           persistence::transaction transaction) {
  transaction.cause.author = "system:apiserver";
  const auto done = std::make_shared<std::promise<persistence::outcome>>();
  auto answer = done->get_future();
  plane.store().submit(std::move(transaction),
                       [done](persistence::outcome result) { done->set_value(std::move(result)); });
  if (answer.wait_for(defaults::start_wait) != std::future_status::ready)
    return tl::make_unexpected("the store did not take the system objects in time");
  return answer.get();
}

// Truncates to the first mutations, with their preconditions, as many as the store accepts in one
// transaction; the next round finds the others.
void shorten(persistence::transaction& all, std::size_t limit) {
  if (all.mutations.size() <= limit) return;
  all.mutations.resize(limit);
  std::erase_if(all.preconditions, [&](const persistence::precondition& each) {
    return std::none_of(all.mutations.begin(), all.mutations.end(),
                        [&](const auto& change) { return change.key == each.key; });
  });
}

}  // namespace

tl::expected<bool, std::string> create_system_objects(actors::control_plane& plane) {
  // Other components create the namespaces too, and may be faster.
  for (int left = actors::defaults::write_attempts;; --left) {
    persistence::transaction transaction;
    if (auto added = add_missing(plane, transaction); !added)
      return tl::make_unexpected(added.error());
    const bool only_defaults = transaction.mutations.empty();
    add_defaults(plane, transaction);
    const auto limit = plane.store().transaction_limit();
    const bool whole = transaction.mutations.size() <= limit;
    shorten(transaction, limit);
    if (transaction.mutations.empty()) return true;
    const auto committed = commit_now(plane, std::move(transaction));
    if (!committed) return tl::make_unexpected(committed.error());
    const auto& result = *committed;
    if (result && whole) return true;
    if (result) {
      ++left;  // it was not a failed attempt
      continue;
    }
    if (result.error().code == persistence::errc::conflict && left > 1) continue;
    if (!only_defaults) return tl::make_unexpected(result.error().message);
    // Administrators need none of it, and the node must start to be repaired.
    spdlog::warn(
        "server: default roles, bindings and APIServices are missing until the next start: {}",
        result.error().message);
    return false;
  }
}

tl::expected<void, std::string> publish_authority(actors::control_plane& plane,
                                                  const std::string& front_proxy_authority) {
  const auto certificates = plane.authority();
  if (certificates.empty()) return {};
  // A controller creates the first one too, and may be faster.
  for (int left = actors::defaults::write_attempts;; --left) {
    const auto state = plane.store().read();
    persistence::transaction transaction;
    auto added = add_missing(plane, state, actors::root_ca::make_map("kube-system", certificates),
                             transaction);
    if (added)
      added = add_missing(plane, state, authentication_map(certificates, front_proxy_authority),
                          transaction);
    if (!added) return added;
    update_front_proxy(state, front_proxy_authority, transaction);
    if (transaction.mutations.empty()) return {};
    const auto committed = commit_now(plane, std::move(transaction));
    if (!committed) return tl::make_unexpected(committed.error());
    if (*committed) return {};
    if (committed->error().code != persistence::errc::conflict || left == 1)
      return tl::make_unexpected(committed->error().message);
  }
}

// kubernetes: pkg/registry/core/service/{ipallocator,portallocator}/controller, repair.
tl::expected<void, std::string> repair_service_allocations(actors::control_plane& plane) {
  std::size_t missing = 0, leaked = 0;
  for (int left = defaults::repair_rounds; left > 0; --left) {
    auto repair = actors::repair_allocations(
        plane.store().read(), std::min(defaults::repair_batch, plane.store().transaction_limit()));
    if (repair.transaction.mutations.empty()) {
      if (missing + leaked + repair.doubled > 0)
        spdlog::warn(
            "services: {} addresses and node ports had no key and got one, {} keys had no "
            "service and were removed; {} numbers belong to two services: create one of them again",
            missing, leaked, repair.doubled);
      return {};
    }
    const auto committed = commit_now(plane, std::move(repair.transaction));
    if (!committed) return tl::make_unexpected(committed.error());
    if (*committed) {
      missing += repair.missing;
      leaked += repair.leaked;
    } else if (committed->error().code != persistence::errc::conflict) {
      return tl::make_unexpected(committed->error().message);
    }
  }
  spdlog::warn(
      "services: {} keys of addresses and node ports were corrected, more at the next "
      "start",
      missing + leaked);
  return {};
}

tl::expected<bool, std::string> prepare_cluster(actors::control_plane& plane,
                                                const std::string& front_proxy_authority) {
  const auto created = create_system_objects(plane);
  if (!created) return created;
  auto done = publish_authority(plane, front_proxy_authority);
  if (done) done = repair_service_allocations(plane);
  if (!done) return tl::make_unexpected(done.error());
  return created;
}

}  // namespace troupe::server
