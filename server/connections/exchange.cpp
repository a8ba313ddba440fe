#include "server/connections/exchange.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "server/defaults.hpp"
#include "server/http/status.hpp"

namespace troupe::server {
namespace {

// An exception of a callback must not end the I/O thread.
void call(const std::function<void()>& callback) noexcept {
  if (!callback) return;
  try {
    callback();
  } catch (const std::exception& e) {
    spdlog::error("server: the callback of a request failed: {}", e.what());
  }
}

}  // namespace

exchange::exchange(std::shared_ptr<task_queue> queue, owner& connection,
                   std::shared_ptr<stream_budget> streams)
    : queue_{std::move(queue)}, owner_{&connection}, streams_{std::move(streams)} {}

bool exchange::must_notify() {
  if (notified_ || serving_) return false;
  notified_ = true;
  return true;
}

void exchange::notify() {
  queue_->post([self = shared_from_this()] {
    if (self->owner_ != nullptr) self->owner_->on_exchange(*self);
  });
}

bool exchange::respond(response answer) {
  std::unique_lock lock{mutex_};
  if (state_ != state::waiting) return false;
  state_ = state::answered;
  head_ = std::move(answer);
  const bool post = must_notify();
  lock.unlock();
  if (post) notify();
  return true;
}

bool exchange::start_stream(response head, stream_events events) {
  std::unique_lock lock{mutex_};
  if (state_ != state::waiting) return false;
  state_ = state::streaming;
  buffered_bytes_ = head.content.size_bytes();
  streams_->add(buffered_bytes_);
  head_ = std::move(head);
  events_ = std::move(events);
  const bool post = must_notify();
  lock.unlock();
  if (post) notify();
  return true;
}

bool exchange::write(piece chunk) {
  if (chunk.text.empty()) return open();
  std::unique_lock lock{mutex_};
  if (state_ != state::streaming || overrun_) return false;
  buffered_bytes_ += chunk.text.size();
  streams_->add(chunk.text.size());
  const bool room = buffered_bytes_ <= streams_->limit();
  starved_ = starved_ || !room;
  overrun_ = buffered_bytes_ > defaults::stream_overrun_factor * streams_->of_stream();
  if (overrun_) {
    chunks_.clear();
  } else {
    chunks_.push_back(std::move(chunk));
  }
  const bool post = must_notify();
  lock.unlock();
  if (post) notify();
  return room;
}

std::size_t exchange::waiting_bytes() const {
  const std::lock_guard lock{mutex_};
  return state_ == state::streaming ? buffered_bytes_ : 0;
}

void exchange::end() {
  std::unique_lock lock{mutex_};
  if (state_ != state::streaming) return;
  state_ = state::ended;
  const bool post = must_notify();
  lock.unlock();
  if (post) notify();
}

void exchange::cut() {
  {
    const std::lock_guard lock{mutex_};
    if (state_ != state::streaming) return;
    cut_ = true;
  }
  end();
}

void exchange::resume() {
  std::unique_lock lock{mutex_};
  if (state_ != state::streaming) return;
  resumed_ = true;
  const bool post = must_notify();
  lock.unlock();
  if (post) notify();
}

void exchange::answer_here(response answer) {
  const std::lock_guard lock{mutex_};
  if (state_ != state::waiting) return;
  state_ = state::answered;
  head_ = std::move(answer);
}

void exchange::serve(handler& target) {
  serving_ = true;  // no other thread has this exchange yet
  const auto self = shared_from_this();
  responder answer{std::make_shared<exchange_duty>(self)};
  try {
    target.serve(request_ptr{self, &request_}, std::move(answer));
  } catch (const std::exception& e) {
    spdlog::error("server: {} {} failed: {}", request_.method_text, request_.path, e.what());
    respond(status_response(500, "InternalError", "Internal error occurred: the request failed"));
  }
  const std::lock_guard lock{mutex_};
  serving_ = false;
}

void exchange::drop_request() {
  request_.method_text = {};
  request_.path = {};
  request_.query = {};
  request_.headers = {};
  request_.content = {};
  request_.info = {};
}

void exchange::begin_work() {
  const std::lock_guard lock{mutex_};
  serving_ = true;
}

bool exchange::end_work() {
  const std::lock_guard lock{mutex_};
  serving_ = false;
  return head_ || !chunks_.empty() || resumed_ || state_ == state::ended;
}

// The response is taken directly after `work`, without another task.
void exchange::run(std::function<void()> work) {
  const auto shared = std::make_shared<std::function<void()>>(std::move(work));
  const bool posted = queue_->post([self = shared_from_this(), shared] {
    self->begin_work();
    call(*shared);
    if (self->end_work() && self->owner_ != nullptr) self->owner_->on_exchange(*self);
  });
  if (!posted) call(*shared);
}

exchange::output exchange::take() {
  output out;
  const std::lock_guard lock{mutex_};
  notified_ = false;
  out.head = std::move(head_);
  head_.reset();
  out.streams = state_ == state::streaming || state_ == state::ended;
  out.tunnels = out.streams && events_.received != nullptr;
  out.resumed = std::exchange(resumed_, false);
  out.chunks.swap(chunks_);
  out.ended = state_ == state::answered || state_ == state::ended;
  out.overrun = overrun_;
  out.cut = cut_;
  if (out.head) {
    permit_.reset();
    charge_.reset();
  }
  return out;
}

bool exchange::receive(std::string_view bytes) {
  std::unique_lock lock{mutex_};
  if (state_ != state::streaming) return true;  // ended by us: further data is ignored
  const auto received = events_.received;
  lock.unlock();
  try {
    return received(bytes);
  } catch (const std::exception& e) {
    spdlog::error("server: a tunnel's receiver failed: {}", e.what());
    end();
    return true;
  }
}

void exchange::sent(std::size_t bytes) {
  std::unique_lock lock{mutex_};
  if (state_ == state::over) return;
  buffered_bytes_ -= bytes;
  streams_->subtract(bytes);
  if (!starved_ || state_ != state::streaming || buffered_bytes_ > streams_->limit() / 2) return;
  starved_ = false;
  const auto writable = events_.writable;
  lock.unlock();
  call(writable);
}

void exchange::client_left() {
  left_ = true;
  const std::lock_guard lock{mutex_};
  permit_.reset();
}

void exchange::detach() {
  owner_ = nullptr;
  charge_.reset();
  std::unique_lock lock{mutex_};
  if (state_ == state::over) return;
  state_ = state::over;
  streams_->subtract(std::exchange(buffered_bytes_, 0));
  const stream_events events = std::move(events_);
  events_ = {};
  std::vector<piece> dropped;
  dropped.swap(chunks_);
  head_.reset();
  const auto permit = std::move(permit_);
  lock.unlock();
  call(events.closed);
}

exchange_duty::~exchange_duty() {
  if (!exchange_->unanswered()) return;
  exchange_->respond(status_response(500, "InternalError",
                                     "Internal error occurred: the request was left unanswered"));
}

// -- the handles ----------------------------------------------------------------------------------

void responder::respond(response answer) const {
  if (duty_) duty_->shared_exchange()->respond(std::move(answer));
}

void responder::run(std::function<void()> work) const {
  if (!duty_) return work();
  duty_->shared_exchange()->run(std::move(work));
}

stream responder::start_stream(response head, stream_events events) const {
  if (!duty_ || !duty_->shared_exchange()->start_stream(std::move(head), std::move(events)))
    return stream{};
  return stream{std::make_shared<stream_duty>(duty_->shared_exchange())};
}

stream responder::start_tunnel(response head, stream_events events) const {
  head.status = 101;
  return start_stream(std::move(head), std::move(events));
}

bool responder::gone() const noexcept {
  return !duty_ || duty_->shared_exchange()->gone();
}

bool stream::write(shared_text chunk) const {
  if (!chunk) return open();
  const auto text = *chunk;
  return write(text, std::move(chunk));
}

bool stream::write(std::string chunk) const {
  return write(shared_text{chunk});
}

bool stream::write(std::string_view chunk, shared_text owner) const {
  return duty_ && duty_->shared_exchange()->write({chunk, std::move(owner)});
}

void stream::close() const {
  if (duty_) duty_->shared_exchange()->end();
}

void stream::cut() const {
  if (duty_) duty_->shared_exchange()->cut();
}

void stream::resume() const {
  if (duty_) duty_->shared_exchange()->resume();
}

std::size_t stream::waiting_bytes() const noexcept {
  return duty_ ? duty_->shared_exchange()->waiting_bytes() : 0;
}

bool stream::open() const noexcept {
  return duty_ && duty_->shared_exchange()->open();
}

}  // namespace troupe::server
