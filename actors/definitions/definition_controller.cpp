#include "actors/definitions/definition_controller.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>
#include <vector>

#include "actors/core/condition.hpp"
#include "actors/core/finalizers.hpp"
#include "actors/core/log.hpp"
#include "actors/write/commands.hpp"
#include "api/definitions/names.hpp"
#include "api/definitions/rules.hpp"
#include "api/definitions/served_kinds.hpp"
#include "api/equality.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::apiextensions::v1::CustomResourceDefinition;

namespace {

constexpr const char* author = "definition-controller";

bool set(CustomResourceDefinition& in, const condition_value& value, runtime::wall_time now) {
  return set_condition(*in.mutable_status()->mutable_conditions(), value, now);
}

}  // namespace

definition_controller::definition_controller(const persistence::store* store, core_actors core)
    : content_deleter{store, std::move(core), author} {}

const runtime::behavior& definition_controller::make_behavior() const {
  static const auto table = runtime::handlers(&definition_controller::on_watch_events,
                                              &definition_controller::on_watch_ended);
  return table;
}

void definition_controller::started() {
  follow(api::kind_of<CustomResourceDefinition>().prefix(),
         [this](const watch_events& m) { on_definitions(m); });
}

std::string definition_controller::describe() const {
  std::size_t known = 0, waiting = 0;
  for (const auto& [name, each] : groups_) {
    known += each.known.size();
    waiting += each.waiting.size() + (each.writing ? 1 : 0);
  }
  return fmt::format("definitions: {}\nwaiting for their names: {}\nending: [{}]\n", known, waiting,
                     endings());
}

// -- messages from the watcher --------------------------------------------------------------------

void definition_controller::on_definitions(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    current_cause({event.cause.request, event.at});
    changed(event);
  }
  // All definitions of a group must be known before the first name is accepted.
  if (!m.synced) return;
  for (auto& [name, each] : groups_)
    sync_next(each);
  std::erase_if(groups_,
                [](const auto& each) { return each.second.known.empty() && !each.second.writing; });
}

void definition_controller::changed(const watch_event& event) {
  const auto& name = event.object->meta().name();
  const auto& now = event.object->as<CustomResourceDefinition>();
  auto& in = groups_[now.spec().group()];
  const auto found = in.known.find(name);
  const bool released =
      event.type == event_type::deleted ||
      (found != in.known.end() &&
       !api::same_meaning(found->second->as<CustomResourceDefinition>().status().accepted_names(),
                          now.status().accepted_names()));
  if (in.writing && in.written != 0 && event.object->revision() >= in.written) in.writing = false;
  if (event.type == event_type::deleted) {
    in.known.erase(name);
    in.waiting.erase(name);
    stop_deletion(*event.object);
  } else {
    in.known[name] = event.object;
    in.waiting.insert(name);
    if (waits(*event.object)) begin_deletion(*event.object);
  }
  // Another definition may wait for a released name.
  if (!released) return;
  for (const auto& [other, object] : in.known)
    if (!api::condition_holds(object->as<CustomResourceDefinition>(), "NamesAccepted"))
      in.waiting.insert(other);
}

// -- names ----------------------------------------------------------------------------------------

void definition_controller::sync_next(group& in) {
  while (!in.writing && !in.waiting.empty()) {
    const auto name = *in.waiting.begin();
    in.waiting.erase(in.waiting.begin());
    const auto object = in.known.at(name);
    auto next = with_status(in, object->as<CustomResourceDefinition>());
    if (next) write_status(in, *object, std::move(next));
  }
}

std::unique_ptr<CustomResourceDefinition> definition_controller::with_status(
    const group& in, const CustomResourceDefinition& of) const {
  if (of.metadata().has_deletion_timestamp()) return nullptr;
  std::vector<const CustomResourceDefinition*> others;
  for (const auto& [name, object] : in.known)
    if (name != of.metadata().name()) others.push_back(&object->as<CustomResourceDefinition>());
  const auto result = api::calculate_names(of, others);
  auto next = std::make_unique<CustomResourceDefinition>(of);
  *next->mutable_status()->mutable_accepted_names() = result.accepted;
  bool changes = !api::same_meaning(result.accepted, of.status().accepted_names());
  for (const auto& each : result.conditions)
    changes = set(*next, {each.type, each.holds ? "True" : "False", each.reason, each.message},
                  wall_now()) ||
              changes;
  return changes ? std::move(next) : nullptr;
}

void definition_controller::write_status(group& in, const api::object& object,
                                         std::unique_ptr<definition> next) {
  in.writing = true;
  in.written = 0;
  const auto& name = object.meta().name();
  log().debug("{}: changes names or conditions of {} at revision {}", author, api::key_of(object),
              object.revision());
  for (const auto& each : next->status().conditions())
    if (each.type() == "NamesAccepted" && each.status() == "False")
      log().info("definition {}: {}: {}", name, each.reason(), each.message());
  auto transaction = std::make_shared<persistence::transaction>(succeed(object, std::move(next)));
  transaction->cause.author = author;
  request<commit_done>(
      core_.writer, commit{std::move(transaction)}, defaults::write_timeout,
      [this, name, group = object.as<CustomResourceDefinition>().spec().group()](auto reply) {
        auto& in = groups_[group];
        const auto known = in.known.find(name);
        if (reply && (*reply)->result) {
          in.written = (*reply)->result->at;
          // The stream may have delivered the change before the answer.
          in.writing = known != in.known.end() && known->second->revision() < in.written;
        } else {
          in.writing = false;
          if (known != in.known.end()) in.waiting.insert(name);
          again_ = after(defaults::try_again, [this] {
            for (auto& [each, of] : groups_)
              sync_next(of);
          });
          return;
        }
        sync_next(in);
      });
}

// -- deletion of a definition -------------------------------------------------------------------

content_deleter::stage definition_controller::survey(const persistence::snapshot& state,
                                                     const api::object& of,
                                                     std::size_t limit) const {
  const auto& definition = of.as<CustomResourceDefinition>();
  const auto ended = [&](const char* reason, const char* message) {
    auto next = std::make_unique<CustomResourceDefinition>(definition);
    set(*next, {"Terminating", "False", reason, message}, wall_now());
    set_finalizer(*next->mutable_metadata(), api::definitions::cleanup_finalizer, false);
    return stage{.next = std::move(next)};
  };
  // Stored by a server that did not have this built-in kind: its objects are not the definition's.
  if (api::definitions::overlaps_built_in(definition))
    return ended("OverlappingBuiltInResource",
                 "instances overlap with built-in resources in storage");
  const auto prefix = api::definitions::objects_prefix(definition);
  std::vector<api::object_ptr> to_remove;
  state.scan(prefix, {}, [&](std::string_view, const api::object_ptr& each) {
    if (!each->meta().has_deletion_timestamp()) to_remove.push_back(each);
    return to_remove.size() < limit;
  });
  if (!to_remove.empty()) return {.to_remove = std::move(to_remove)};
  if (state.count(prefix) == 0) return ended("InstanceDeletionCompleted", "removed all instances");
  auto next = std::make_unique<CustomResourceDefinition>(definition);
  const bool changes = set(*next,
                           {"Terminating", "True", "InstanceDeletionInProgress",
                            "CustomResource deletion is in progress"},
                           wall_now());
  return {.next = changes ? std::move(next) : nullptr};
}

bool definition_controller::waits(const api::object& of) const {
  return has_pending_finalizer(of.meta(), api::definitions::cleanup_finalizer);
}

}  // namespace troupe::actors
