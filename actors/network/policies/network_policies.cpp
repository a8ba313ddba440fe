#include "actors/network/policies/network_policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/core/labels.hpp"
#include "actors/network/defaults.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::policies {

using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::networking::v1::NetworkPolicy;

namespace {

// Ports and node of a pod are immutable.
bool same_for_policies(const api::object& a, const api::object& b) {
  const auto same_address = [&](const address_family& family) {
    return own_address(a, family) == own_address(b, family);
  };
  return same_address(services::family_v4) && same_address(services::family_v6) &&
         same_labels(a.meta().labels(), b.meta().labels());
}

std::optional<ip_number> address_in(const std::vector<std::string>& addresses,
                                    const address_family& family) {
  for (const auto& each : addresses)
    if (const auto address = parse_address(each, family)) return address;
  return std::nullopt;
}

bool made_later(const api::object& a, const api::object& b) {
  const auto &left = a.meta().creation_timestamp(), &right = b.meta().creation_timestamp();
  return std::pair{left.seconds(), a.revision()} > std::pair{right.seconds(), b.revision()};
}

}  // namespace

network_policies::network_policies(runtime::actor_ref watcher, network_policies_options options)
    : informer{std::move(watcher)}, options_{std::move(options)}, writer_{make_writer()} {
  if (options_.has_ipv6) table_v6_.emplace(services::family_v6);
}

nft::script_writer network_policies::make_writer() {
  return nft::script_writer{
      {.subject = "the rules of policies",
       .text = [this](nft::extent wanted) { return script(wanted); },
       .give =
           [this](std::string text, nft::script_id script) {
             waiters_.begin();
             options_.run(std::move(text), [to = self(), script](std::string problem) {
               to.tell(nft::script_done{script, std::move(problem)});
             });
           },
       .ended = [this](const std::string& problem) { waiters_.end(problem); },
       .up_to_date = [this] { waiters_.up_to_date(); },
       .after = [this](auto delay, auto action) { return after(delay, std::move(action)); }}};
}

const runtime::behavior& network_policies::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&network_policies::on_watch_events, &network_policies::on_watch_ended,
                        &network_policies::on_guard_pod, &network_policies::on_script_done,
                        &network_policies::on_rules_removed, &network_policies::on_family_checked);
  return table;
}

void network_policies::started() {
  follow(api::kind_of<NetworkPolicy>().prefix(), [this](const watch_events& m) { on_policies(m); });
  // The pods of this node are watched always, to notice when one is deleted.
  follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { on_pods(m); },
         {.on_node = options_.node});
  if (options_.check_ipv6) check_family();
}

std::string network_policies::describe() const {
  auto text =
      fmt::format("policies: {}\npods: {}\nguarded: {}\nrules: {}\nscripts: {}\nproblem: \"{}\"\n",
                  policies_.size(), pods_.size(), table_.guarded(), table_.rules(), writer_.given(),
                  writer_.problem());
  if (table_v6_)
    text +=
        fmt::format("guarded_ipv6: {}\nrules_ipv6: {}\n", table_v6_->guarded(), table_v6_->rules());
  return text;
}

// -- messages from the watcher --------------------------------------------------------------------

void network_policies::on_policies(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    const auto key = api::key_of(*event.object);
    if (event.type == event_type::deleted)
      policies_.erase(key);
    else
      policies_[key] = event.object;
    changed_ = true;
  }
  if (policies_.empty())
    unfollow_all();
  else
    follow_all();
  schedule_apply();
}

void network_policies::follow_all() {
  if (all_pods_ != 0) return;
  all_namespaces_ = follow(api::kind_of<Namespace>().prefix(),
                           [this](const watch_events& m) { on_namespaces(m); });
  all_pods_ = follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { on_pods(m); });
}

// The pods of this node stay watched.
void network_policies::unfollow_all() {
  if (all_pods_ == 0) return;
  unfollow(std::exchange(all_pods_, 0));
  unfollow(std::exchange(all_namespaces_, 0));
  namespaces_.clear();
  std::erase_if(pods_, [this](const auto& entry) {
    return entry.second->template as<Pod>().spec().node_name() != options_.node;
  });
}

void network_policies::on_namespaces(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    auto& known = namespaces_[event.object->meta().name()];
    changed_ = changed_ || event.type == event_type::deleted || !known ||
               !same_labels(known->meta().labels(), event.object->meta().labels());
    known = event.object;
    if (event.type == event_type::deleted) namespaces_.erase(event.object->meta().name());
  }
  schedule_apply();
}

// Pods of this node come in both streams, in any order.
void network_policies::on_pods(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    const auto& uid = event.object->meta().uid();
    if (event.type == event_type::deleted) {
      changed_ = pods_.erase(uid) + claims_.erase(uid) > 0 || changed_;
      continue;
    }
    auto& known = pods_[uid];
    if (known && known->revision() >= event.object->revision()) continue;
    changed_ = changed_ || !known || !same_for_policies(*known, *event.object);
    known = event.object;
  }
  schedule_apply();
}

// -- messages from the node -----------------------------------------------------------------------

void network_policies::on_guard_pod(const nft::guard_pod& m) {
  auto& held = claims_[m.pod->meta().uid()];
  if (!held.pod || held.addresses != m.addresses) {
    held = {m.pod, m.addresses, ++last_claim_};
    changed_ = true;
  }
  waiters_.add(m);
  if (apply()) writer_.write_at_once();
}

void network_policies::on_script_done(const nft::script_done& m) {
  writer_.on_done(m);
}

void network_policies::on_rules_removed(const nft::rules_removed&) {
  writer_.restore();
}

void network_policies::check_family() {
  check_ = after(network_defaults::ipv6_check, [this] { check_family(); });
  options_.check_ipv6(
      [to = self()](std::string problem) { to.tell(nft::family_checked{std::move(problem)}); });
}

void network_policies::on_family_checked(const nft::family_checked& m) {
  if (!m.problem.empty()) return;
  check_.cancel();
  if (table_v6_) return;
  table_v6_.emplace(services::family_v6);
  changed_ = true;
  schedule_apply();
}

// -- the rules ------------------------------------------------------------------------------------

void network_policies::schedule_apply() {
  if (!synced() || (known_ && !changed_) || apply_.pending()) return;
  apply_ = after(network_defaults::coalescing, [this] {
    if (apply()) writer_.write();
  });
}

// Returns false while the initial lists are incomplete.
bool network_policies::apply() {
  if (!synced()) return false;
  if (std::exchange(changed_, false)) compile_all();
  return known_ = true;
}

void network_policies::compile_all() {
  table_.want(compile(state_now(services::family_v4)));
  const auto v6 = compile(state_now(services::family_v6));
  if (!table_v6_ && !v6.guarded.empty()) table_v6_.emplace(services::family_v6);
  if (table_v6_) table_v6_->want(v6);
}

std::string network_policies::script(nft::extent wanted) {
  auto text = nft::text_of(table_, wanted);
  if (table_v6_) text += nft::text_of(*table_v6_, wanted);
  return text;
}

policy_state network_policies::state_now(const address_family& family) const {
  policy_state state{.family = &family};
  for (const auto& [key, policy] : policies_)
    state.policies.push_back(policy);
  state.namespaces = namespaces_;
  if (policies_.empty()) return state;
  std::map<ip_number, std::pair<std::uint64_t, api::object_ptr>> owners;
  const auto consider = [&](ip_number address, std::uint64_t claimed, const api::object_ptr& pod) {
    auto& owner = owners[address];
    if (!owner.second || claimed > owner.first ||
        (claimed == owner.first && made_later(*pod, *owner.second)))
      owner = {claimed, pod};
  };
  for (const auto& [uid, pod] : pods_)
    if (const auto address = own_address(*pod, family); address && !claims_.contains(uid))
      consider(*address, 0, pod);
  for (const auto& [uid, held] : claims_) {
    const auto newest = pods_.find(uid);
    if (const auto address = address_in(held.addresses, family))
      consider(*address, held.sequence, newest != pods_.end() ? newest->second : held.pod);
  }
  for (const auto& [address, owner] : owners)
    state.pods.push_back(
        {owner.second, address, owner.second->as<Pod>().spec().node_name() == options_.node});
  return state;
}

}  // namespace troupe::actors::policies
