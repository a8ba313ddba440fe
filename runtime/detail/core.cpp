#include "runtime/detail/core.hpp"

#include <caf/actor_config.hpp>
#include <caf/actor_system.hpp>
#include <caf/make_actor.hpp>

#include "runtime/detail/host.hpp"
#include "runtime/detail/log.hpp"

namespace troupe::runtime {

namespace {

std::uint64_t next_id_of_process() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

actor_ref core::make_host(spawn_options options, std::function<std::unique_ptr<actor>()> make,
                          actor_ref parent) {
  const auto id = numbers_from_one ? ++last_id : next_id_of_process();
  caf::actor_config config;
  auto made = caf::make_actor<host, caf::strong_actor_ptr>(id, caf->node(), caf, config,
                                                           shared_from_this(), std::move(options),
                                                           std::move(make), std::move(parent));
  auto& h = static_cast<host&>(*made->get());
  live.fetch_add(1, std::memory_order_relaxed);
  auto ref = access::share(h);
  made.release();
  actors.enter(h);
  return ref;
}

actor_ref core::spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make) {
  actor_ref made;
  {
    std::lock_guard lock{mutex};
    if (closing) return {};
    if (auto alive = top.find(options.kind, options.name)) return alive;
    made = make_host(std::move(options), std::move(make), {});
    top.add(made);
  }
  access::host_of(made)->schedule();
  return made;
}

void core::top_ended(const actor_ref& which) {
  std::lock_guard lock{mutex};
  top.remove(which);
}

void core::close() {
  std::vector<actor_ref> all;
  {
    std::lock_guard lock{mutex};
    closing = true;
    top.each([&](const actor_ref& each) { all.push_back(each); });
  }
  for (const auto& each : all)
    access::host_of(each)->request_stop();
}

void core::ended() noexcept {
  if (live.fetch_sub(1) != 1) return;
  std::lock_guard lock{mutex};
  changed.notify_all();
}

bool core::await_ended(duration grace) {
  std::unique_lock lock{mutex};
  return changed.wait_for(lock, grace, [this] { return live.load() == 0; });
}

void core::report(const crash& what) const noexcept {
  try {
    if (what.restart_in > duration::zero()) {
      log().error("{} {} threw while it handled {}: {}; restart {} in {} ms", what.kind, what.name,
                  what.message_type, what.error, what.restarts,
                  std::chrono::duration_cast<std::chrono::milliseconds>(what.restart_in).count());
    } else {
      log().error("{} {} threw while it handled {}: {}; it is not restarted", what.kind, what.name,
                  what.message_type, what.error);
    }
    if (options.on_crash) options.on_crash(what);
  } catch (const std::exception& e) {
    log().error("the function that is told of crashes threw: {}", e.what());
  }
}

}  // namespace troupe::runtime
