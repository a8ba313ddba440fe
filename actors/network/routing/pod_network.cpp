#include "actors/network/routing/pod_network.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/network/defaults.hpp"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "api/values/utf8.hpp"

namespace troupe::actors::routing {

pod_network::pod_network(runtime::actor_ref watcher, pod_network_options options)
    : informer{std::move(watcher)}, options_{std::move(options)} {}

const runtime::behavior& pod_network::make_behavior() const {
  static const auto table = runtime::handlers(&pod_network::on_watch_events,
                                              &pod_network::on_watch_ended, &pod_network::on_made);
  return table;
}

void pod_network::started() {
  follow(api::kind_of<api::core::v1::Node>().prefix(),
         [this](const watch_events& m) { on_nodes(m); });
  renewal_ = every(network_defaults::pod_network_renewal, [this] {
    renew_ = true;
    make();
  });
}

std::string pod_network::describe() const {
  std::string own;
  for (const auto& range : asked_.own)
    own += (own.empty() ? "" : ", ") + range.text();
  return fmt::format("range: \"{}\"\nothers: {}\nproblems: [\"{}\"]\n", own, asked_.peers.size(),
                     fmt::join(problems_, "\", \""));
}

void pod_network::on_nodes(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark || !event.object) continue;
    const auto& name = event.object->meta().name();
    if (event.type == event_type::deleted)
      nodes_.erase(name);
    else
      nodes_[name] = event.object;
  }
  schedule_make();
}

// Events of Nodes within a short time cause one run.
void pod_network::schedule_make() {
  if (synced() && !soon_.pending()) soon_ = after(network_defaults::coalescing, [this] { make(); });
}

void pod_network::make() {
  if (!synced() || running_ || retry_.pending()) return;
  auto wanted = ranges_of_nodes(nodes_, options_.node, options_.cluster);
  // Without its own range this node is not registered yet, or was removed.
  if (wanted.own.empty() || (!renew_ && wanted == asked_)) return;
  renew_ = false;
  running_ = std::make_shared<const run>();
  limit_ = after(network_defaults::pod_network_answer_limit, [this] {
    end_run({{fmt::format(
        "addresses and routes of pods: the run has not ended after {}",
        std::chrono::floor<std::chrono::seconds>(network_defaults::pod_network_answer_limit))}});
  });
  asked_ = wanted;
  options_.make(std::move(wanted), [to = self(), of = running_](made_network network) {
    to.tell(made{of, std::move(network)});
  });
}

void pod_network::on_made(const made& m) {
  if (m.of == running_) end_run(m.network);
}

void pod_network::end_run(const made_network& network) {
  running_.reset();
  limit_.cancel();
  auto problems = network.problems;
  const bool failed = !problems.empty();
  const auto line = fmt::format("{}", fmt::join(problems, "; "));
  const auto size = api::utf8_prefix(line, network_defaults::pod_network_message_bytes);
  options_.report(network.is_ours ? line.substr(0, size) : std::string{});
  problems.insert(problems.end(), asked_.problems.begin(), asked_.problems.end());
  if (std::exchange(problems_, problems) != problems) {
    for (const auto& each : problems_)
      spdlog::warn("network: {}", each);
    if (problems_.empty()) spdlog::info("network: pods have all their addresses and routes");
  }
  if (!failed) {
    pause_ = runtime::duration{0};
    return make();
  }
  renew_ = true;
  pause_ = std::clamp<runtime::duration>(2 * pause_, network_defaults::pod_network_retry,
                                         network_defaults::pod_network_longest_retry);
  retry_ = after(pause_, [this] { make(); });
}

}  // namespace troupe::actors::routing
