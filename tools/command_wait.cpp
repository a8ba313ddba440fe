#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"
#include "api/selector.hpp"
#include "tools/access_flags.hpp"
#include "tools/commands.hpp"
#include "tools/defaults.hpp"
#include "tools/interruptible_clock.hpp"
#include "tools/object_condition.hpp"
#include "tools/program.hpp"
#include "tools/wait_flags.hpp"

namespace troupe::tools {

namespace {

using api::core::v1::Pod;
using api::core::v1::PodList;
using api::core::v1::ReplicationController;

struct wait_flags {
  explicit wait_flags(CLI::App& command) : access{command} {}

  access_flags access;
  std::vector<std::string> targets;
  std::string what;
  std::string space = "default";
  wait::duration timeout{30'000};  // as kubectl wait
  wait::duration poll{1'000};
};

struct target {
  const api::kind_info* kind;
  std::string name;

  std::string str() const { return kind->qualified_plural() + '/' + name; }
};

tl::expected<target, std::string> parse_target(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == text.npos || slash == 0 || slash + 1 == text.size())
    return tl::make_unexpected("\"" + text + "\" is no object: write KIND/NAME, such as rc/web");
  const auto* kind = find_kind(text.substr(0, slash));
  if (kind == nullptr)
    return tl::make_unexpected("there is no kind \"" + text.substr(0, slash) + "\"");
  return target{kind, text.substr(slash + 1)};
}

// On a minion whose kubelet has taken it.
bool on_minion(const Pod& pod) {
  return !pod.spec().node_name().empty() && pod.status().has_start_time();
}

// As the integration test of Kubernetes v0.2 asks it: of a pod, or of all that a replication
// controller wants.
tl::expected<bool, std::string> pods_on_minions(cluster_client& cluster, const target& of,
                                                const std::string& space) {
  const auto found = get_object(cluster, *of.kind, space, of.name);
  if (!found) return tl::make_unexpected(found.error());
  if (*found == nullptr) return false;
  if (of.kind == &api::kind_of<Pod>()) return on_minion(static_cast<const Pod&>(**found));
  if (of.kind != &api::kind_of<ReplicationController>())
    return tl::make_unexpected("podsOnMinions is asked of a pod or a replication controller");
  const auto& wanted = static_cast<const ReplicationController&>(**found).spec();
  PodList pods;
  const auto selector = api::label_selector::from(wanted.selector()).str();
  if (auto done = list_into(cluster, api::kind_of<Pod>(), space, selector, pods); !done)
    return tl::make_unexpected(done.error());
  const auto there = std::count_if(pods.items().begin(), pods.items().end(), on_minion);
  return there == pods.items_size() && there >= wanted.replicas();
}

tl::expected<wait::condition, std::string> condition_of(cluster_client& cluster, const target& of,
                                                        const wait_flags& given) {
  if (given.what == "podsOnMinions")
    return [&cluster, of, &given] { return pods_on_minions(cluster, of, given.space); };
  auto holds = parse_object_condition(given.what, *of.kind);
  if (!holds) return tl::make_unexpected(holds.error());
  return [&cluster, of, &given, holds = std::move(*holds)]() -> tl::expected<bool, std::string> {
    const auto found = get_object(cluster, *of.kind, given.space, of.name);
    if (!found) return tl::make_unexpected(found.error());
    return holds(found->get());
  };
}

std::string text_of(const wait::failure& failure, const target& of) {
  switch (failure.why) {
    case wait::failure::reason::timed_out:
      return "timed out waiting for the condition on " + of.str();
    case wait::failure::reason::interrupted:
      return "interrupted";
    case wait::failure::reason::condition_failed:
      break;
  }
  return failure.message;
}

struct awaited {
  target what;
  wait::condition condition;
};

// What can never come true is found before anything is waited for.
tl::expected<std::vector<awaited>, std::string> all_awaited(cluster_client& cluster,
                                                            const wait_flags& given) {
  std::vector<awaited> out;
  for (const auto& text : given.targets) {
    const auto of = parse_target(text);
    if (!of) return tl::make_unexpected(of.error());
    auto condition = condition_of(cluster, *of, given);
    if (!condition) return tl::make_unexpected(condition.error());
    out.push_back({*of, *std::move(condition)});
  }
  return out;
}

// One after the other; all of them share the time.
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
      return tl::make_unexpected(text_of(done.error(), each.what));
    std::cout << each.what.str() << " condition met" << std::endl;
  }
  return {};
}

int run(const wait_flags& given) {
  const auto cluster = given.access.connect();
  const auto done = cluster ? wait_for_all(**cluster, given) : tl::make_unexpected(cluster.error());
  if (done) return exit_code::done;
  std::cerr << "troupe: " << done.error() << "\n";
  return exit_code::failed;
}

}  // namespace

void add_wait_command(program& to) {
  const auto flags = std::make_shared<std::unique_ptr<wait_flags>>();
  auto& command = to.add("wait", "Waits until objects have come to a condition.",
                         [flags] { return run(**flags); });
  *flags = std::make_unique<wait_flags>(command);
  auto& given = **flags;
  command.add_option("objects", given.targets, "What to wait for, as KIND/NAME.")
      ->required()
      ->type_name("KIND/NAME");
  command
      .add_option("--for", given.what,
                  "condition=TYPE[=STATUS], delete, desiredReplicas, podsOnMinions, or "
                  "FIELD.PATH=VALUE, such as status.phase=Running, metadata.labels.app=web or "
                  "status.containerStatuses[0].ready=true.")
      ->required()
      ->type_name("CONDITION");
  add_namespace(command, given.space);
  add_duration(command, "--timeout", given.timeout, "How long at most; 0 is for ever.");
  add_duration(command, "--poll", given.poll, "How often to look.", defaults::least_poll);
}

}  // namespace troupe::tools
