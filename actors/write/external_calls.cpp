#include "actors/write/external_calls.hpp"

#include <spdlog/fmt/fmt.h>

#include <optional>
#include <utility>
#include <vector>

#include "actors/defaults.hpp"

namespace troupe::actors {

void external_calls::ask(const admission::external_step& step, admission::question_ptr about,
                         runtime::time_point now, std::function<void(admission::reply)> done) {
  std::optional<api::error> refusal;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock{mutex_};
    if (closed_) {
      refusal = api::service_unavailable("the server is stopping");
    } else if (waiting_.size() >= defaults::external_waiting) {
      refusal = api::too_many_requests(
          fmt::format("{} writes wait for an admission step", waiting_.size()), 1);
    } else {
      id = ++last_;
      waiting_.emplace(id, call{now + step.timeout(), std::string{step.name()}, std::move(done)});
    }
  }
  if (refusal) return done(api::fail(std::move(*refusal)));
  step.ask(std::move(about), [self = weak_from_this(), id](admission::reply reply) {
    if (const auto calls = self.lock()) calls->answered(id, std::move(reply));
  });
}

void external_calls::answered(std::uint64_t id, admission::reply reply) {
  std::unique_lock lock{mutex_};
  auto found = waiting_.extract(id);
  lock.unlock();
  if (found) found.mapped().done(std::move(reply));
}

void external_calls::expire(runtime::time_point now) {
  std::vector<call> late;
  {
    const std::lock_guard lock{mutex_};
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      const auto each = at++;
      if (each->second.deadline <= now) late.push_back(std::move(waiting_.extract(each).mapped()));
    }
  }
  for (auto& each : late)
    each.done(api::fail(api::internal(fmt::format(
        "failed calling admission step \"{}\": context deadline exceeded", each.step))));
}

void external_calls::close() {
  std::map<std::uint64_t, call> left;
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    left.swap(waiting_);
  }
  for (auto& [id, each] : left)
    each.done(api::fail(api::service_unavailable("the server is stopping")));
}

std::size_t external_calls::waiting() const {
  const std::lock_guard lock{mutex_};
  return waiting_.size();
}

}  // namespace troupe::actors
