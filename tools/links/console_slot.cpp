#include "tools/links/console_slot.hpp"

#include <utility>

namespace troupe::tools {

server::node_console& console_slot::open(runtime::actor_system& system, const std::string& node) {
  const std::lock_guard lock{mutex_};
  console_ = std::make_unique<server::node_console>(system, node);
  return *console_;
}

void console_slot::close() {
  const std::lock_guard lock{mutex_};
  console_.reset();
}

void console_slot::ask(actors::console_request request,
                       std::function<void(actors::console_view)> done) {
  const std::lock_guard lock{mutex_};
  if (!console_) return done({0, "the node is ending"});
  console_->ask({std::move(request.target), request.changes, std::move(request.user)},
                [done = std::move(done)](server::console_answer answer) {
                  done({answer.status, std::move(answer.body), answer.total});
                });
}

std::function<void(actors::console_request, std::function<void(actors::console_view)>)> answers_of(
    std::shared_ptr<console_slot> slot) {
  return [slot = std::move(slot)](auto request, auto done) {
    slot->ask(std::move(request), std::move(done));
  };
}

}  // namespace troupe::tools
