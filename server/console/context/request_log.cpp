#include "server/console/context/request_log.hpp"

#include <algorithm>

#include "server/console/defaults.hpp"
#include "server/rest/requests/audit.hpp"

namespace troupe::server {

void request_log::observe(const request_record& record) {
  if (!mutates(record.verb)) return;
  logged_request made{.id = record.request.id,
                      .user = record.request.user ? record.request.user->name : std::string{},
                      .method = std::string{to_string(record.request.method)},
                      .path = record.request.path,
                      .status = record.status,
                      .at = std::chrono::system_clock::now()};
  const std::lock_guard lock{mutex_};
  if (requests_.size() == defaults::requests_kept) requests_.pop_front();
  requests_.push_back(std::move(made));
}

std::optional<logged_request> request_log::find(std::uint64_t id) const {
  const std::lock_guard lock{mutex_};
  const auto found = std::find_if(requests_.rbegin(), requests_.rend(),
                                  [id](const logged_request& each) { return each.id == id; });
  if (found == requests_.rend()) return std::nullopt;
  return *found;
}

}  // namespace troupe::server
