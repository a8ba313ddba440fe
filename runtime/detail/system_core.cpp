#include "runtime/detail/system_core.hpp"

#include <caf/actor_config.hpp>
#include <caf/actor_system.hpp>
#include <caf/make_actor.hpp>

#include "runtime/detail/actor_cell.hpp"
#include "runtime/detail/log.hpp"

namespace troupe::runtime {

namespace {

std::uint64_t next_id_of_process() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

actor_ref system_core::make_cell(spawn_options options,
                                 std::function<std::unique_ptr<actor>()> make, actor_ref parent) {
  const auto id = numbers_from_one ? ++last_id : next_id_of_process();
  caf::actor_config config;
  auto made = caf::make_actor<actor_cell, caf::strong_actor_ptr>(
      id, caf->node(), caf, config, shared_from_this(), std::move(options), std::move(make),
      std::move(parent));
  auto& h = static_cast<actor_cell&>(*made->get());
  live.fetch_add(1, std::memory_order_relaxed);
  auto ref = access::share(h);
  made.release();
  actors.enter(h);
  return ref;
}

actor_ref system_core::spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make) {
  actor_ref made;
  {
    std::lock_guard lock{mutex};
    if (closing) return {};
    if (auto alive = top.find(options.kind, options.name)) return alive;
    made = make_cell(std::move(options), std::move(make), {});
    top.add(made);
  }
  access::cell_of(made)->schedule();
  return made;
}

void system_core::top_ended(const actor_ref& child) {
  std::lock_guard lock{mutex};
  top.remove(child);
}

void system_core::close() {
  std::vector<actor_ref> all;
  {
    std::lock_guard lock{mutex};
    closing = true;
    top.each([&](const actor_ref& each) { all.push_back(each); });
  }
  for (const auto& each : all)
    access::cell_of(each)->request_stop();
}

void system_core::ended() noexcept {
  if (live.fetch_sub(1) != 1) return;
  std::lock_guard lock{mutex};
  changed.notify_all();
}

bool system_core::await_ended(duration grace) {
  std::unique_lock lock{mutex};
  return changed.wait_for(lock, grace, [this] { return live.load() == 0; });
}

void system_core::report(const crash& crash) const noexcept {
  try {
    if (crash.restart_in > duration::zero()) {
      log().error("{} {} threw while it handled {}: {}; restart {} in {} ms", crash.kind,
                  crash.name, crash.message_type, crash.error, crash.restarts,
                  std::chrono::duration_cast<std::chrono::milliseconds>(crash.restart_in).count());
    } else {
      log().error("{} {} threw while it handled {}: {}; it is not restarted", crash.kind,
                  crash.name, crash.message_type, crash.error);
    }
    if (options.on_crash) options.on_crash(crash);
  } catch (const std::exception& e) {
    log().error("the crash callback threw: {}", e.what());
  }
}

}  // namespace troupe::runtime
