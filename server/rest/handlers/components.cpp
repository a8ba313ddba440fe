#include "server/rest/handlers/components.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/schema/core_component.pb.h"
#include "api/scheme.hpp"
#include "runtime/directory.hpp"
#include "server/rest/handlers/reading.hpp"

namespace troupe::server {
namespace {

using api::core::v1::ComponentStatus;

// Names known to upstream's clients, except the store, which is not etcd.
constexpr auto controllers = "controller-manager";
constexpr auto scheduler = "scheduler";
constexpr auto store = "store";

// `fault` is empty if the component is healthy.
api::object_ptr component(const char* name, const std::string& fault, std::uint64_t revision) {
  auto made = std::make_unique<ComponentStatus>();
  made->mutable_metadata()->set_name(name);
  auto& condition = *made->add_conditions();
  condition.set_type("Healthy");
  condition.set_status(fault.empty() ? "True" : "False");
  if (fault.empty())
    condition.set_message("ok");
  else
    condition.set_error(fault);
  return std::make_shared<const api::object>(api::kind_of<ComponentStatus>(), std::move(made),
                                             revision);
}

std::vector<api::object_ptr> components(const call& call) {
  bool scheduling = false;
  std::string scheduler_fault, controller_fault, store_fault;
  const auto crashed = [](const runtime::actor_info& actor) {
    return actor.kind + " " + actor.name + " waits for its restart: " + actor.last_error;
  };
  call.services.plane.system().actors().each([&](const runtime::actor_info& actor) {
    if (actor.kind == "scheduler") {
      scheduling = true;
      if (actor.backing_off) scheduler_fault = crashed(actor);
    } else if (actor.kind == "supervisor" && actor.backing_off) {
      controller_fault = crashed(actor);
    }
  });
  if (!scheduling) scheduler_fault = "it does not run";
  if (call.services.plane.store().stats().read_only) store_fault = "the store is read-only";
  const auto revision = call.services.read().at();
  return {component(controllers, controller_fault, revision),
          component(scheduler, scheduler_fault, revision), component(store, store_fault, revision)};
}

}  // namespace

void get_component(const call_ptr& call) {
  for (const auto& each : components(*call))
    if (each->meta().name() == call->route.name) return call->answer(200, each);
  call->fail(api::not_found(call->kind(), call->route.name));
}

void list_components(const call_ptr& call) {
  const auto options = parse_list_options(call->kind(), call->request->query, false);
  if (!options) return call->fail(options.error());
  list_page page{&call->kind(), components(*call), call->services.read().at(), {}, {}};
  std::erase_if(page.items, [&](const api::object_ptr& each) {
    return !options->labels.matches(each->meta().labels()) ||
           !options->fields.matches(each->content());
  });
  answer_list(call, std::move(page));
}

}  // namespace troupe::server
