#include "system/planes/history_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

#include "persistence/replica/log_record.hpp"
#include "support/programs/shell.hpp"
#include "system/planes/stored_facts.hpp"

namespace troupe::test {

namespace {

constexpr std::size_t kept_of_a_kind = 5;
// The authors in causes, up to the first '/', that run only on the leading control plane.
const std::set<std::string_view> leading_authors{"certificate-controller",
                                                 "claim-controller",
                                                 "clusterrole-aggregation-controller",
                                                 "controllermanager",
                                                 "crd-autoregister",
                                                 "cronjob-controller",
                                                 "daemonset-controller",
                                                 "definition-controller",
                                                 "deployment-controller",
                                                 "endpoint-controller",
                                                 "endpoint-slice-mirroring-controller",
                                                 "garbage-collector",
                                                 "horizontal-pod-autoscaler",
                                                 "job-controller",
                                                 "minion",
                                                 "namespaces",
                                                 "persistentvolume-controller",
                                                 "pod",
                                                 "pod-range-allocator",
                                                 "quota-status",
                                                 "replicaset-controller",
                                                 "replication-controller",
                                                 "root-ca-cert-publisher",
                                                 "scheduler",
                                                 "service-controller",
                                                 "statefulset-controller",
                                                 "supervisor",
                                                 "token-cleaner",
                                                 "token-secrets"};

class problems {
 public:
  template <class... Parts>
  void add(const char* format, const Parts&... parts) {
    if (counts_[format]++ < kept_of_a_kind)
      all_.push_back(fmt::format(fmt::runtime(format), parts...));
  }
  std::vector<std::string> take() { return std::move(all_); }

 private:
  std::map<std::string, std::size_t> counts_;
  std::vector<std::string> all_;
};

void check_steps(const evidence& found, problems& to) {
  revision last = 1;
  for (const auto& step : found.history) {
    if (step.at != last + 1) to.add("the history goes from revision {} to {}", last, step.at);
    last = step.at;
    for (const auto& each : step.changes)
      if (each.value == unreadable) to.add("{} at revision {} cannot be read", each.key, step.at);
  }
}

void check_writes(const evidence& found, problems& to) {
  using answer = write_record::answer;
  std::map<std::string, std::vector<revision>> happened, removed;
  for (const auto& step : found.history)
    for (const auto& each : step.changes)
      if (!each.value)
        removed[each.key].push_back(step.at);
      else if (!each.value->empty())
        happened[*each.value].push_back(step.at);
  for (const auto& each : found.writes) {
    if (each.marker.empty()) {
      if (each.told == answer::done && !removed.contains(each.key))
        to.add("the deletion of {} was acknowledged and did not happen", each.key);
      // Only the client that created the key deletes it, once.
      if (each.told == answer::refused && removed.contains(each.key))
        to.add("the deletion of {} was refused, and happened", each.key);
      continue;
    }
    const auto& at = happened[each.marker];
    if (at.size() > 1) to.add("write {} happened {} times", each.marker, at.size());
    if (each.told == answer::done && (at.empty() || at.front() != each.at))
      to.add("write {} was acknowledged at {}, and happened at {}", each.marker, each.at,
             at.empty() ? 0 : at.front());
    if (each.told == answer::refused && !at.empty())
      to.add("write {} was refused, and happened at {}", each.marker, at.front());
  }
}

void check_real_time(const evidence& found, problems& to) {
  std::vector<const write_record*> sent, answered;
  for (const auto& each : found.writes)
    if (each.told == write_record::answer::done && each.at != 0) sent.push_back(&each);
  answered = sent;
  std::sort(sent.begin(), sent.end(), [](auto* a, auto* b) { return a->sent < b->sent; });
  std::sort(answered.begin(), answered.end(),
            [](auto* a, auto* b) { return a->answered < b->answered; });
  revision before = 0;
  auto next = answered.begin();
  for (const auto* each : sent) {
    for (; next != answered.end() && (*next)->answered < each->sent; ++next)
      before = std::max(before, (*next)->at);
    if (each->at <= before)
      to.add("{} was written at {}, after revision {} had been acknowledged", each->marker,
             each->at, before);
  }
}

void check_preconditions(const evidence& found, problems& to) {
  std::map<std::string, revision> newest, replaced;  // by key; by marker
  for (const auto& step : found.history)
    for (const auto& each : step.changes) {
      auto& at = newest[each.key];
      if (each.value && each.value->starts_with('<')) replaced.emplace(*each.value, at);
      at = each.value ? step.at : 0;
    }
  for (const auto& each : found.writes) {
    const auto write = replaced.find(each.marker);
    if (write != replaced.end() && write->second != each.expected)
      to.add("write {} expected revision {} of {}, and replaced revision {}", each.marker,
             each.expected, each.key, write->second);
  }
}

struct key_version {
  revision at = 0;
  bool exists = false;
};

// `versions` of the key that was read, in order.
bool can_show(const std::vector<key_version>& versions, const read_record& read) {
  const auto later = std::upper_bound(
      versions.begin(), versions.end(), read.after,
      [](revision after, const key_version& version) { return after < version.at; });
  if (later == versions.begin() && read.shown == 0) return true;
  const auto first = later == versions.begin() ? later : later - 1;
  return std::any_of(first, versions.end(), [&](const key_version& each) {
    return (each.exists ? each.at : 0) == read.shown;
  });
}

void check_reads(const evidence& found, problems& to) {
  std::map<std::string, std::vector<key_version>> versions;
  for (const auto& each : found.reads)
    versions.try_emplace(each.key);
  for (const auto& step : found.history)
    for (const auto& each : step.changes)
      if (const auto key = versions.find(each.key); key != versions.end())
        key->second.push_back({step.at, each.value.has_value()});
  for (const auto& each : found.reads)
    if (!can_show(versions[each.key], each))
      to.add("a read showed {} at revision {}, and {} had been told before", each.key, each.shown,
             each.after);
}

using object_revisions = std::map<std::string, revision>;  // by name

void check_list(const list_record& list, const object_revisions& state, problems& to) {
  std::size_t digest = 0, count = 0;
  for (auto each = state.begin(); each != state.end() && count < list.count; ++each, ++count)
    digest ^= digest_of(each->first, each->second);
  if (list.at < list.after)
    to.add("a list showed revision {}, and {} had been told before", list.at, list.after);
  if (count != list.count || digest != list.digest || (list.is_whole && count != state.size()))
    to.add("a list of {} objects at revision {} is not that of the history, which has {}",
           list.count, list.at, state.size());
}

void check_lists(const evidence& found, problems& to) {
  auto lists = found.lists;
  std::sort(lists.begin(), lists.end(),
            [](const list_record& a, const list_record& b) { return a.at < b.at; });
  object_revisions state;
  auto next = lists.begin();
  for (const auto& step : found.history) {
    for (; next != lists.end() && next->at < step.at; ++next)
      check_list(*next, state, to);
    for (const auto& each : step.changes)
      if (each.key.starts_with(found.watched)) {
        auto name = each.key.substr(found.watched.size());
        if (each.value)
          state[std::move(name)] = step.at;
        else
          state.erase(name);
      }
  }
  for (; next != lists.end(); ++next)
    check_list(*next, state, to);
}

// Leader records and causes name control planes differently: the names must correspond one to one.
void check_leaders(const evidence& found, problems& to) {
  std::string leader;
  std::map<std::string, std::string> member_of, leader_of;
  const auto both = [&](const std::string& member, revision at) {
    const auto known = member_of.emplace(leader, member).first->second;
    const auto led = leader_of.emplace(member, leader).first->second;
    if (known != member || led != leader)
      to.add("revision {} is of control plane {}, and {} led, which is {}", at, member, leader,
             known);
  };
  for (const auto& step : found.history) {
    // `leader` is still the leader before this step.
    std::optional<persistence::cause_record> cause;
    bool is_led = false;
    for (const auto& each : step.changes) {
      if (each.key == persistence::cause_key && each.value)
        cause = persistence::read_cause(*each.value);
      is_led =
          is_led || (each.value && each.created == step.at && each.key.starts_with(found.pods));
    }
    if (cause) {
      const std::string_view author = cause->cause.author;
      is_led = is_led || leading_authors.contains(author.substr(0, author.find('/')));
    }
    if (is_led && !cause) to.add("revision {} makes a pod, and has no cause", step.at);
    if (is_led && leader.empty()) to.add("revision {} is a leader's, and nobody led", step.at);
    if (is_led && cause && !leader.empty()) both(cause->tag.member, step.at);
    for (const auto& each : step.changes)
      if (each.key == persistence::leader_key)
        leader = each.value ? persistence::read_leader(step.at, *each.value).node : "";
  }
}

void check_pods_of(const owned_pods& owner, const evidence& found, problems& to) {
  std::set<std::string> pods;
  for (const auto& step : found.history) {
    for (const auto& each : step.changes) {
      if (!each.key.starts_with(owner.prefix)) continue;
      if (each.value && !each.value->ends_with(" terminating"))
        pods.insert(each.key);
      else
        pods.erase(each.key);
    }
    if (pods.size() > owner.most)
      to.add("{} pods of {} were there at revision {}", pods.size(), owner.most, step.at);
  }
  if (pods.size() != owner.at_end)
    to.add("{} pods of {} are there at the end", pods.size(), owner.at_end);
}

void check_pods(const evidence& found, problems& to) {
  for (const auto& each : found.owners)
    check_pods_of(each, found, to);
}

// Empty: not bound.
std::string node_of(const log_change& pod) {
  const auto words = pod.value ? words_of(*pod.value) : std::vector<std::string>{};
  return words.empty() || words.front() == "-" ? std::string{} : words.front();
}

void check_nodes(const evidence& found, problems& to) {
  std::map<std::string, std::string> nodes;  // by pod
  std::map<std::string, std::size_t> counts;
  for (const auto& step : found.history) {
    std::set<std::string> grown;
    for (const auto& each : step.changes) {
      if (!each.key.starts_with(found.pods)) continue;
      const auto now = node_of(each), before = nodes[each.key];
      if (each.value && each.created != step.at && !before.empty() && now != before)
        to.add("{} was bound to {} and is bound to {} at revision {}", each.key, before, now,
               step.at);
      if (!before.empty()) --counts[before];
      if (!now.empty()) ++counts[now];
      if (now != before) grown.insert(now);
      if (each.value)
        nodes[each.key] = now;
      else
        nodes.erase(each.key);
    }
    for (const auto& node : grown)
      if (!node.empty() && counts[node] > found.pods_of_node)
        to.add("{} pods are on {} at revision {}, which has room for {}", counts[node], node,
               step.at, found.pods_of_node);
  }
}

void check_services(const evidence& found, problems& to) {
  std::map<std::string, std::string> users;  // services by address or port
  for (const auto& step : found.history) {
    // What one service gives up another one may take in the same step.
    for (const auto& each : step.changes)
      if (each.key.starts_with(found.services))
        std::erase_if(users, [&](const auto& user) { return user.second == each.key; });
    for (const auto& each : step.changes) {
      if (!each.key.starts_with(found.services) || !each.value) continue;
      for (const auto& word : words_of(*each.value))
        if (const auto [user, is_free] = users.emplace(word, each.key); !is_free)
          to.add("{} has {} at revision {}, and so has {}", each.key, word, step.at, user->second);
    }
  }
}

std::vector<watch_event> events_of(const evidence& found, bool only_odd) {
  std::vector<watch_event> all;
  std::map<std::string, std::string> markers;  // by name, of what the watch shows
  for (const auto& step : found.history)
    for (const auto& each : step.changes) {
      if (!each.key.starts_with(found.watched)) continue;
      auto name = each.key.substr(found.watched.size());
      const auto before = markers.find(name);
      if (each.value && (!only_odd || is_odd(*each.value))) {
        all.push_back({step.at, before == markers.end() ? "ADDED" : "MODIFIED", name, *each.value});
        markers[name] = *each.value;
      } else if (before != markers.end()) {
        all.push_back({step.at, "DELETED", std::move(name), std::move(before->second)});
        markers.erase(before);
      }
    }
  return all;
}

std::string text_of(const std::vector<watch_event>& events, std::size_t index) {
  if (index >= events.size()) return "nothing";
  const auto& each = events[index];
  return fmt::format("{} {} {} at {}", each.type, each.name, each.marker, each.at);
}

void check_watches(const evidence& found, problems& to) {
  const auto every = events_of(found, false), odd = events_of(found, true);
  const auto same = [](const watch_event& a, const watch_event& b) {
    return a.at == b.at && a.type == b.type && a.name == b.name && a.marker == b.marker;
  };
  for (const auto& span : found.watches) {
    const auto& all = span.only_odd ? odd : every;
    std::vector<watch_event> due;
    std::copy_if(all.begin(), all.end(), std::back_inserter(due), [&](const watch_event& each) {
      return each.at > span.after && each.at <= span.up_to;
    });
    if (std::equal(due.begin(), due.end(), span.events.begin(), span.events.end(), same)) continue;
    const auto [mine, theirs] = std::mismatch(
        due.begin(),
        due.begin() + static_cast<std::ptrdiff_t>(std::min(due.size(), span.events.size())),
        span.events.begin(), same);
    const auto at = static_cast<std::size_t>(mine - due.begin());
    to.add("a watch after {} up to {} told {} where the history has {}", span.after, span.up_to,
           text_of(span.events, at), text_of(due, at));
  }
}

void check_states(const evidence& found, problems& to) {
  std::map<std::string, revision> state;
  for (const auto& each : events_of(found, false))
    if (each.type == "DELETED")
      state.erase(each.name);
    else
      state[each.name] = each.at;
  for (const auto& [plane, seen] : found.states)
    if (seen != state)
      to.add("{} shows {} config maps, and not as the {} of the history", plane, seen.size(),
             state.size());
}

}  // namespace

std::size_t digest_of(const std::string& name, revision at) {
  return std::hash<std::string>{}(fmt::format("{}@{}", name, at));
}

bool is_odd(const std::string& marker) {
  return marker.size() > 1 && marker[marker.size() - 2] % 2 != 0;
}

std::vector<std::string> evaluate(const evidence& found) {
  problems all;
  check_steps(found, all);
  check_writes(found, all);
  check_real_time(found, all);
  check_preconditions(found, all);
  check_reads(found, all);
  check_lists(found, all);
  check_leaders(found, all);
  check_pods(found, all);
  check_nodes(found, all);
  check_services(found, all);
  check_watches(found, all);
  check_states(found, all);
  return all.take();
}

}  // namespace troupe::test
