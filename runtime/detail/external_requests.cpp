#include "runtime/detail/external_requests.hpp"

#include <exception>
#include <vector>

#include "runtime/detail/log.hpp"

namespace troupe::runtime {

std::uint64_t external_requests::add(time_point due, reply_handler done) {
  auto c = std::make_unique<call>();
  c->done = std::move(done);
  const auto turn = turn_.fetch_add(1, std::memory_order_relaxed) % shards;
  {
    auto& shard = shards_[turn];
    std::lock_guard lock{shard.mutex};
    if (!shard.closed) {
      const auto id = ++shard.last * shards + turn;
      c->node.target = this;
      c->node.id = id;
      timers_.add(c->node, due);
      shard.calls.emplace(id, std::move(c));
      return id;
    }
  }
  const auto error = request_error::down;
  run(*c, {}, &error);
  return 0;
}

void external_requests::complete(std::uint64_t id, const message& reply,
                                 std::optional<request_error> error) noexcept {
  if (const auto c = take(id)) run(*c, reply, error ? &*error : nullptr);
}

void external_requests::schedule_failure(std::uint64_t id, request_error error, time_point now) {
  auto& shard = shard_of(id);
  std::lock_guard lock{shard.mutex};
  auto found = shard.calls.find(id);
  if (found == shard.calls.end()) return;
  found->second->error = error;
  timers_.remove(found->second->node);
  timers_.add(found->second->node, now);
}

void external_requests::close() {
  for (auto& shard : shards_) {
    decltype(shard.calls) calls;
    {
      std::lock_guard lock{shard.mutex};
      shard.closed = true;
      calls.swap(shard.calls);
      for (auto& [id, c] : calls)
        timers_.remove(c->node);
    }
    const auto error = request_error::down;
    for (auto& [id, c] : calls)
      run(*c, {}, &error);
  }
}

void external_requests::due(std::uint64_t id) noexcept {
  if (const auto c = take(id)) run(*c, {}, &c->error);
}

std::unique_ptr<external_requests::call> external_requests::take(std::uint64_t id) {
  auto& shard = shard_of(id);
  std::lock_guard lock{shard.mutex};
  auto found = shard.calls.find(id);
  if (found == shard.calls.end()) return nullptr;
  auto c = std::move(found->second);
  shard.calls.erase(found);
  timers_.remove(c->node);
  return c;
}

void external_requests::run(const call& c, const message& reply,
                            const request_error* error) noexcept {
  try {
    c.done(reply, error);
  } catch (const std::exception& e) {
    log().error("the callback of a request threw: {}", e.what());
  } catch (...) {
    log().error("the callback of a request threw something that is not an exception");
  }
}

}  // namespace troupe::runtime
