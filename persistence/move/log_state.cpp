#include "persistence/move/log_state.hpp"

#include <spdlog/fmt/fmt.h>

#include <functional>
#include <utility>

#include "persistence/move/defaults.hpp"
#include "persistence/replica/defaults.hpp"
#include "persistence/replica/log_record.hpp"

namespace troupe::persistence {

// -- the source -----------------------------------------------------------------------------------

expected<std::unique_ptr<log_source>> log_source::open(blocking_log& log) {
  auto found = find_cluster(log);
  if (!found) return fail(std::move(found.error()));
  if (!*found || !(*found)->copied_from.empty())
    return fail(errc::invalid,
                fmt::format("{} holds no cluster of troupe, or an incomplete one", log.name()));
  const auto identity = log.identity();
  if (!identity) return fail(identity.error());
  // Restored from a backup, and not served since: as join_cluster().
  if ((*found)->log != *identity) (*found)->base += defaults::restore_gap;
  auto made = std::unique_ptr<log_source>{new log_source{log, std::move(**found)}};
  auto first = made->log_.list({});
  if (!first) return fail(std::move(first.error()));
  made->head_ = {made->record_.cluster, first->at + made->record_.base};
  made->page_ = std::move(*first);
  return made;
}

log_source::log_source(blocking_log& log, cluster_record record)
    : upstream_{log.log(), {}},
      log_{record.upstream_layout ? log.over(upstream_) : log.over(log.log())},
      record_{std::move(record)} {}

expected<std::vector<stored_item>> log_source::next() {
  for (;;) {
    if (!std::exchange(first_, false)) {
      if (!page_.more) return std::vector<stored_item>{};
      auto page = log_.list({page_.items.back().key, page_.at});
      if (!page) return fail(std::move(page.error()));
      page_ = std::move(*page);
    }
    std::vector<stored_item> items;
    for (auto& each : page_.items)
      if (!each.key.starts_with(own_prefix))
        items.push_back({each.key, std::move(each.value), each.created + record_.base,
                         each.modified + record_.base});
    if (!items.empty()) return items;
  }
}

// -- the target -----------------------------------------------------------------------------------

expected<void> log_target::begin(const cluster_head& head) {
  const auto identity = log_.identity();
  if (!identity) return fail(identity.error());
  const std::string key{cluster_key};
  const auto item = log_.read(key);
  if (!item) return fail(item.error());
  record_ = {head.cluster, *identity, head.at, fmt::format("{} at {}", head.cluster, head.at),
             true};
  if (*item) {
    if (read_cluster((*item)->value) != record_) return fail(not_empty());
    modified_ = (*item)->modified;
    return read_present();
  }
  if (auto read = read_present(); !read) return read;
  if (!present_.empty())
    return fail(errc::invalid, fmt::format("{} holds keys already, as {}: choose an empty one",
                                           log_.name(), present_.begin()->first));
  const auto reply = log_.submit({{{key, 0}}, {{key, cluster_text(record_)}}});
  if (!reply) return fail(reply.error());
  const auto written = log_.read(key);
  if (!written) return fail(written.error());
  if (!*written || read_cluster((*written)->value) != record_)
    return fail(errc::conflict, fmt::format("another client writes to {}", log_.name()));
  modified_ = (*written)->modified;
  return {};
}

error log_target::not_empty() {
  const auto leader = log_.read(std::string{leader_key});
  const auto served = leader && *leader
                          ? fmt::format(", which the control plane {} serves",
                                        read_leader((*leader)->created, (*leader)->value).node)
                          : std::string{};
  return {errc::invalid, fmt::format("{} holds a cluster already{}, or a part of another state: "
                                     "choose an empty one",
                                     log_.name(), served)};
}

expected<void> log_target::read_present() {
  log_page page;
  do {
    auto next = log_.list({page.items.empty() ? std::string{} : page.items.back().key, page.at});
    if (!next) return fail(std::move(next.error()));
    page = std::move(*next);
    for (const auto& each : page.items)
      if (!each.key.starts_with(own_prefix))
        present_.emplace(each.key, std::hash<std::string>{}(each.value));
  } while (page.more);
  return {};
}

expected<void> log_target::add(std::vector<stored_item> items) {
  log_transaction part;
  std::size_t bytes = 0;
  for (auto& each : items) {
    const auto found = present_.find(each.key);
    if (found != present_.end() && found->second == std::hash<std::string>{}(each.value)) continue;
    const auto size = each.key.size() + each.value.size();
    if (!part.writes.empty() && (part.writes.size() == defaults::log_transaction_limit ||
                                 bytes + size > defaults::log_part_bytes)) {
      if (auto done = write(std::exchange(part, {})); !done) return done;
      bytes = 0;
    }
    bytes += size;
    part.writes.push_back({std::move(each.key), std::move(each.value)});
  }
  return part.writes.empty() ? expected<void>{} : write(std::move(part));
}

// Fails if another process wrote the record. Idempotent: retried if the answer is lost.
expected<void> log_target::write(log_transaction part) {
  part.compares.push_back({std::string{cluster_key}, modified_});
  const auto reply = log_.submit(part);
  if (!reply) return fail(reply.error());
  if (reply->result == log_answer::outcome::conflict)
    return fail(errc::conflict, fmt::format("another client writes to {}", log_.name()));
  return {};
}

expected<void> log_target::finish() {
  record_.copied_from.clear();
  const std::string key{cluster_key};
  const auto reply = log_.submit({{{key, modified_}}, {{key, cluster_text(record_)}}});
  if (!reply) return fail(reply.error());
  if (reply->result == log_answer::outcome::committed) return {};
  // An earlier attempt may have succeeded although its answer was lost.
  const auto now = log_.read(key);
  if (!now) return fail(now.error());
  if (*now && read_cluster((*now)->value) == record_) return {};
  return fail(errc::conflict, fmt::format("another client writes to {}", log_.name()));
}

}  // namespace troupe::persistence
