#include "persistence/move/live_servers.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "persistence/move/defaults.hpp"
#include "persistence/replica/log_record.hpp"

namespace troupe::persistence {

namespace {

struct sign_of_life {
  std::string name;  // of the control plane
  revision at = 0;
};
using signs = std::map<std::string, sign_of_life>;  // by key

// One page is enough: any of them will do.
expected<signs> read_signs(blocking_log& log, const std::string& records) {
  signs found;
  const auto leader = log.read(std::string{leader_key});
  if (!leader) return fail(leader.error());
  if (*leader)
    found[(*leader)->key] = {read_leader((*leader)->created, (*leader)->value).node,
                             (*leader)->modified};
  const auto page = log.list({records, 0, true});
  if (!page) return fail(page.error());
  for (const auto& each : page->items)
    if (each.key.starts_with(records))
      found[each.key] = {each.key.substr(records.size()), each.modified};
  return found;
}

// Any that is new, or has changed.
std::optional<std::string> find_renewed(const signs& before, const signs& now) {
  const auto found = std::find_if(now.begin(), now.end(), [&](const auto& each) {
    const auto last = before.find(each.first);
    return last == before.end() || last->second.at != each.second.at;
  });
  return found == now.end() ? std::nullopt : std::optional{found->second.name};
}

}  // namespace

expected<std::optional<std::string>> find_live_server(blocking_log& log, const std::string& records,
                                                      std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  auto seen = read_signs(log, records);
  if (seen && !seen->empty())
    spdlog::warn(
        "store: {} was served by the control plane {}: waiting at most {} s whether it "
        "still is",
        log.name(), seen->begin()->second.name,
        std::chrono::ceil<std::chrono::seconds>(limit).count());
  while (seen && !seen->empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(defaults::live_server_poll);
    auto next = read_signs(log, records);
    if (!next) return fail(std::move(next.error()));
    if (auto renewed = find_renewed(*seen, *next)) return renewed;
    seen = std::move(next);
  }
  if (!seen) return fail(std::move(seen.error()));
  // The log removes it at the end of its lease.
  const auto leader = seen->find(std::string{leader_key});
  return leader == seen->end() ? std::nullopt : std::optional{leader->second.name};
}

}  // namespace troupe::persistence
