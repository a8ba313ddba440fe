#include "runtime/actor.hpp"

#include <algorithm>

#include "runtime/detail/core.hpp"
#include "runtime/detail/host.hpp"

namespace troupe::runtime {

// -- timer ---

timer::timer(host* owner, std::uint64_t id) noexcept : host_{owner}, id_{id} {
  host_->retain();
}

timer& timer::operator=(timer&& other) noexcept {
  if (this != &other) {
    cancel();
    host_ = std::exchange(other.host_, nullptr);
    id_ = std::exchange(other.id_, 0);
  }
  return *this;
}

void timer::cancel() noexcept {
  if (auto* owner = std::exchange(host_, nullptr)) {
    owner->cancel(id_);
    owner->release();
  }
}

bool timer::pending() const noexcept {
  return host_ != nullptr && host_->pending(id_);
}

// -- actor ---

actor::actor() : host_{this_thread::constructing} {}

actor_ref actor::self() const {
  return access::share(*host_);
}

system& actor::home() const {
  return *host_->shared().home;
}

const std::string& actor::name() const {
  return host_->options().name;
}

const cause& actor::why() const noexcept {
  return host_->why();
}

void actor::why(cause changed) noexcept {
  host_->why(changed);
}

actor_ref actor::sender() const {
  return host_->sender();
}

time_point actor::now() const noexcept {
  return host_->shared().time->now();
}

wall_time actor::wall_now() const noexcept {
  return host_->shared().time->wall_now();
}

std::mt19937_64& actor::random() noexcept {
  return host_->random();
}

bool actor::send(const actor_ref& to, message content) const {
  return host_->send(to, std::move(content));
}

timer actor::after(duration delay, unique_function<void()> action) {
  return timer{host_, host_->arm(delay, duration::zero(), std::move(action))};
}

timer actor::every(duration period, unique_function<void()> action) {
  // A period of nothing would never let the actor do anything else.
  const auto step = std::max(period, duration{1});
  return timer{host_, host_->arm(step, step, std::move(action))};
}

actor_ref actor::spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make) {
  return host_->spawn(std::move(options), std::move(make));
}

actor_ref actor::child(const std::string& kind, const std::string& name) const {
  const auto* children = host_->offspring();
  return children != nullptr ? children->find(kind, name) : actor_ref{};
}

void actor::stop_child(const actor_ref& which) {
  host_->stop_child(which);
}

void actor::stop() {
  host_->stop_self();
}

void actor::request_message(const actor_ref& to, message content, duration timeout,
                            reply_handler done) {
  host_->request(to, std::move(content), timeout, std::move(done));
}

}  // namespace troupe::runtime
