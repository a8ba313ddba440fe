#include "runtime/actor.hpp"

#include <algorithm>

#include "runtime/detail/actor_cell.hpp"
#include "runtime/detail/system_core.hpp"

namespace troupe::runtime {

// -- timer ---

timer::timer(actor_cell* owner, std::uint64_t id) noexcept : cell_{owner}, id_{id} {
  cell_->retain();
}

timer& timer::operator=(timer&& other) noexcept {
  if (this != &other) {
    cancel();
    cell_ = std::exchange(other.cell_, nullptr);
    id_ = std::exchange(other.id_, 0);
  }
  return *this;
}

void timer::cancel() noexcept {
  if (auto* owner = std::exchange(cell_, nullptr)) {
    owner->cancel(id_);
    owner->release();
  }
}

bool timer::pending() const noexcept {
  return cell_ != nullptr && cell_->pending(id_);
}

// -- actor ---

actor::actor() : cell_{this_thread::constructing} {}

actor_ref actor::self() const {
  return access::share(*cell_);
}

actor_system& actor::system() const {
  return *cell_->shared().system;
}

const std::string& actor::name() const {
  return cell_->options().name;
}

const cause& actor::current_cause() const noexcept {
  return cell_->current_cause();
}

void actor::current_cause(cause changed) noexcept {
  cell_->current_cause(changed);
}

actor_ref actor::sender() const {
  return cell_->sender();
}

time_point actor::now() const noexcept {
  return cell_->shared().time->now();
}

wall_time actor::wall_now() const noexcept {
  return cell_->shared().time->wall_now();
}

std::mt19937_64& actor::random() noexcept {
  return cell_->random();
}

bool actor::send(const actor_ref& to, message content) const {
  return cell_->send(to, std::move(content));
}

timer actor::after(duration delay, unique_function<void()> action) {
  return timer{cell_, cell_->arm(delay, duration::zero(), std::move(action))};
}

timer actor::every(duration period, unique_function<void()> action) {
  // A period of 0 would starve the actor.
  const auto step = std::max(period, duration{1});
  return timer{cell_, cell_->arm(step, step, std::move(action))};
}

actor_ref actor::spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make) {
  return cell_->spawn(std::move(options), std::move(make));
}

actor_ref actor::child(const std::string& kind, const std::string& name) const {
  const auto* children = cell_->children();
  return children != nullptr ? children->find(kind, name) : actor_ref{};
}

void actor::stop_child(const actor_ref& child) {
  cell_->stop_child(child);
}

void actor::stop() {
  cell_->stop_self();
}

void actor::request_message(const actor_ref& to, message content, duration timeout,
                            reply_handler done) {
  cell_->request(to, std::move(content), timeout, std::move(done));
}

}  // namespace troupe::runtime
