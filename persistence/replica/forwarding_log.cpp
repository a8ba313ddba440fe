#include "persistence/replica/forwarding_log.hpp"

#include <utility>

namespace troupe::persistence {

void forwarding_log::end() {
  if (owned_) owned_->close();
}

void forwarding_log::follow_through(revision after, std::unique_ptr<log_reader> reader) {
  // The previous reader gets no more calls, but may be the caller: delete it later.
  auto& next = *reader;
  log_.call_later(
      {}, [last = std::shared_ptr<log_reader>{std::exchange(reader_, std::move(reader))}] {});
  log_.follow(after, next);
}

void forwarding_log::identity(std::function<void(expected<std::string>)> done) {
  log_.identity(std::move(done));
}

void forwarding_log::submit(log_transaction request, std::function<void(log_answer)> done) {
  log_.submit(std::move(request), std::move(done));
}

void forwarding_log::newest(std::function<void(expected<revision>)> done) {
  log_.newest(std::move(done));
}

void forwarding_log::follow(revision after, log_reader& reader) {
  log_.follow(after, reader);
}

void forwarding_log::read(std::string key,
                          std::function<void(expected<std::optional<log_item>>)> done) {
  log_.read(std::move(key), std::move(done));
}

void forwarding_log::list(log_range range, std::function<void(expected<log_page>)> done) {
  log_.list(std::move(range), std::move(done));
}

void forwarding_log::grant(std::chrono::seconds time_to_live,
                           std::function<void(expected<lease_id>)> done) {
  log_.grant(time_to_live, std::move(done));
}

void forwarding_log::renew(lease_id lease, std::chrono::milliseconds limit,
                           std::function<void(expected<std::chrono::seconds>)> done) {
  log_.renew(lease, limit, std::move(done));
}

void forwarding_log::revoke(lease_id lease, std::function<void()> done) {
  log_.revoke(lease, std::move(done));
}

void forwarding_log::compact(revision up_to, std::function<void(expected<void>)> done) {
  log_.compact(up_to, std::move(done));
}

void forwarding_log::call_later(std::chrono::milliseconds delay, std::function<void()> work) {
  log_.call_later(delay, std::move(work));
}

}  // namespace troupe::persistence
