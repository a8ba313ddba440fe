#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"
#include "tools/client/object_condition.hpp"
#include "tools/command_line/access_flags.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/wait_flags.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/interruptible_clock.hpp"
#include "tools/defaults.hpp"

namespace troupe::tools {

namespace {

using api::core::v1::Pod;
using api::core::v1::PodList;
using api::core::v1::ReplicationController;

struct wait_flags {
  explicit wait_flags(CLI::App& command) : access{command} {}

  access_flags access;
  std::vector<std::string> targets;
  std::string condition;
  std::string ns = "default";
  wait::duration timeout{30'000};  // as kubectl wait
  wait::duration poll{1'000};
};

struct target {
  api::kind_handle kind;
  std::string name;

  std::string str() const { return kind->qualified_plural() + '/' + name; }
};

tl::expected<target, std::string> parse_target(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == text.npos || slash == 0 || slash + 1 == text.size())
    return tl::make_unexpected("\"" + text +
                               "\" is not an object: expected KIND/NAME, such as rc/web");
  const auto kind = find_kind(text.substr(0, slash));
  if (!kind) return tl::make_unexpected("there is no kind \"" + text.substr(0, slash) + "\"");
  return target{kind, text.substr(slash + 1)};
}

// True if the pod is bound to a minion whose kubelet has accepted it.
bool on_minion(const Pod& pod) {
  return !pod.spec().node_name().empty() && pod.status().has_start_time();
}

// The condition of Kubernetes v0.2's integration test: of a pod, or of all pods of a replication
// controller.
tl::expected<bool, std::string> pods_on_minions(cluster_client& cluster, const target& target,
                                                const std::string& ns) {
  const auto found = get_object(cluster, *target.kind, ns, target.name);
  if (!found) return tl::make_unexpected(found.error());
  if (*found == nullptr) return false;
  if (target.kind == &api::kind_of<Pod>()) return on_minion(static_cast<const Pod&>(**found));
  if (target.kind != &api::kind_of<ReplicationController>())
    return tl::make_unexpected("podsOnMinions needs a pod or a replication controller");
  const auto& wanted = static_cast<const ReplicationController&>(**found).spec();
  PodList pods;
  const auto selector = api::label_selector::from(wanted.selector()).str();
  if (auto done = list_into(cluster, api::kind_of<Pod>(), ns, selector, pods); !done)
    return tl::make_unexpected(done.error());
  const auto there = std::count_if(pods.items().begin(), pods.items().end(), on_minion);
  return there == pods.items_size() && there >= wanted.replicas();
}

tl::expected<wait::condition, std::string> condition_of(cluster_client& cluster,
                                                        const target& target,
                                                        const wait_flags& given) {
  if (given.condition == "podsOnMinions")
    return [&cluster, target, &given] { return pods_on_minions(cluster, target, given.ns); };
  auto holds = parse_object_condition(given.condition, *target.kind);
  if (!holds) return tl::make_unexpected(holds.error());
  return
      [&cluster, target, &given, holds = std::move(*holds)]() -> tl::expected<bool, std::string> {
        const auto found = get_object(cluster, *target.kind, given.ns, target.name);
        if (!found) return tl::make_unexpected(found.error());
        return holds(found->get());
      };
}

std::string text_of(const wait::failure& failure, const target& target) {
  switch (failure.reason) {
    case wait::failure_reason::timed_out:
      return "timed out waiting for the condition on " + target.str();
    case wait::failure_reason::interrupted:
      return "interrupted";
    case wait::failure_reason::condition_failed:
      break;
  }
  return failure.message;
}

struct awaited {
  target object;
  wait::condition condition;
};

// Finds a condition that can never become true before it waits for any.
tl::expected<std::vector<awaited>, std::string> all_awaited(cluster_client& cluster,
                                                            const wait_flags& given) {
  std::vector<awaited> out;
  for (const auto& text : given.targets) {
    const auto parsed = parse_target(text);
    if (!parsed) return tl::make_unexpected(parsed.error());
    auto condition = condition_of(cluster, *parsed, given);
    if (!condition) return tl::make_unexpected(condition.error());
    out.push_back({*parsed, *std::move(condition)});
  }
  return out;
}

// Waits for one after the other; all of them share the time-out.
tl::expected<void, std::string> wait_for_all(cluster_client& cluster, const wait_flags& given) {
  interruptible_clock clock;
  const auto all = all_awaited(cluster, given);
  if (!all) return tl::make_unexpected(all.error());
  const auto end = clock.now() + given.timeout;
  for (const auto& each : *all) {
    wait::poll_options options{given.poll, given.timeout, true};
    if (given.timeout > wait::duration{0})
      options.timeout =
          std::max(wait::duration{1}, std::chrono::ceil<wait::duration>(end - clock.now()));
    if (const auto done = wait::poll(clock, options, each.condition); !done)
      return tl::make_unexpected(text_of(done.error(), each.object));
    std::cout << each.object.str() << " condition met" << std::endl;
  }
  return {};
}

int run(const wait_flags& given) {
  const auto cluster = given.access.connect();
  return cluster ? exit_code_of(wait_for_all(**cluster, given)) : fail_with(cluster.error());
}

}  // namespace

void add_wait_command(program& to) {
  const auto flags = std::make_shared<std::unique_ptr<wait_flags>>();
  auto& command =
      to.add("wait", "Waits until objects meet a condition.", [flags] { return run(**flags); });
  *flags = std::make_unique<wait_flags>(command);
  auto& given = **flags;
  command.add_option("objects", given.targets, "What to wait for, as KIND/NAME.")
      ->required()
      ->type_name("KIND/NAME");
  command
      .add_option("--for", given.condition,
                  "condition=TYPE[=STATUS], delete, desiredReplicas, podsOnMinions, or "
                  "FIELD.PATH=VALUE, such as status.phase=Running, metadata.labels.app=web or "
                  "status.containerStatuses[0].ready=true.")
      ->required()
      ->type_name("CONDITION");
  add_namespace(command, given.ns);
  add_duration(command, "--timeout", given.timeout, "The longest time to wait; 0 is forever.");
  add_duration(command, "--poll", given.poll, "The period between checks.", defaults::min_poll);
}

}  // namespace troupe::tools
