#include "server/console/request_log.hpp"

#include <algorithm>

#include "server/console/defaults.hpp"
#include "server/rest/audit.hpp"

namespace troupe::server {

void request_log::observe(const request_record& seen) {
  if (!mutates(seen.wanted)) return;
  logged_request made{.id = seen.what.id,
                      .user = seen.what.user ? seen.what.user->name : std::string{},
                      .method = std::string{to_string(seen.what.method)},
                      .path = seen.what.path,
                      .status = seen.status,
                      .at = std::chrono::system_clock::now()};
  const std::lock_guard lock{mutex_};
  if (kept_.size() == defaults::requests_kept) kept_.pop_front();
  kept_.push_back(std::move(made));
}

std::optional<logged_request> request_log::find(std::uint64_t id) const {
  const std::lock_guard lock{mutex_};
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(),
                                  [id](const logged_request& each) { return each.id == id; });
  if (found == kept_.rend()) return std::nullopt;
  return *found;
}

}  // namespace troupe::server
