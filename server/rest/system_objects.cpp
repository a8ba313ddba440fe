#include "server/rest/system_objects.hpp"

#include <algorithm>
#include <future>
#include <iterator>
#include <memory>
#include <random>
#include <string_view>

#include "actors/creation.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/scheme.hpp"
#include "runtime/system.hpp"
#include "server/rest/defaults.hpp"

namespace troupe::server {
namespace {

using api::core::v1::Namespace;

// kubernetes: pkg/controlplane/controller/systemnamespaces, and "default".
constexpr std::string_view system_namespaces[] = {"default", "kube-system", "kube-public",
                                                  "kube-node-lease"};

// Nothing where it is there.
tl::expected<void, std::string> add_missing(actors::control_plane& plane,
                                            persistence::transaction& into) {
  const auto state = plane.truth().read();
  const auto& kind = api::kind_of<Namespace>();
  std::mt19937_64 random{std::random_device{}()};
  for (const auto name : system_namespaces) {
    if (state.find(kind.key({}, name))) continue;
    auto content = std::make_unique<Namespace>();
    content->mutable_metadata()->set_name(std::string{name});
    auto made = actors::create_transaction(state, kind, std::move(content), actors::checks::all,
                                           plane.company().time().wall_now(), random);
    if (!made) return tl::make_unexpected(made.error().message);
    for (auto& each : made->preconditions)
      into.preconditions.push_back(std::move(each));
    for (auto& each : made->mutations)
      into.mutations.push_back(std::move(each));
  }
  return {};
}

}  // namespace

bool is_system_namespace(std::string_view name) noexcept {
  return std::find(std::begin(system_namespaces), std::end(system_namespaces), name) !=
         std::end(system_namespaces);
}

tl::expected<void, std::string> create_system_objects(actors::control_plane& plane) {
  persistence::transaction what;
  what.why.author = "system:apiserver";
  if (auto added = add_missing(plane, what); !added) return added;
  if (what.mutations.empty()) return {};
  const auto done = std::make_shared<std::promise<std::string>>();
  auto answer = done->get_future();
  plane.commit(std::move(what), 0, [done](persistence::outcome result) {
    // Another server of the cluster may have been faster.
    const bool fine = result || result.error().code == persistence::errc::conflict;
    done->set_value(fine ? std::string{} : result.error().message);
  });
  if (answer.wait_for(defaults::start_wait) != std::future_status::ready)
    return tl::make_unexpected("the store did not take the system namespaces in time");
  if (auto problem = answer.get(); !problem.empty()) return tl::make_unexpected(problem);
  return {};
}

}  // namespace troupe::server
