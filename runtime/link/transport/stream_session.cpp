#include "runtime/link/transport/stream_session.hpp"

#include <chrono>
#include <utility>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/hello.hpp"
#include "runtime/link/transport/text.hpp"

namespace troupe::runtime::link {

// The room of one delivery in the window.
class stream_session::room {
 public:
  room(std::shared_ptr<stream_session> of, std::size_t cost) : of_{std::move(of)}, cost_{cost} {}
  room(const room&) = delete;
  room& operator=(const room&) = delete;
  ~room() { of_->release(cost_); }

 private:
  const std::shared_ptr<stream_session> of_;
  const std::size_t cost_;
};

// -- session --------------------------------------------------------------------------------------

bool stream_session::send(std::string frame) {
  std::lock_guard lock{mutex_};
  if (stage_ > stage::open || closing_ || broken_ || frame.size() > defaults::frame_limit_bytes ||
      outbox_.bytes() >= defaults::outbox_limit_bytes)
    return false;
  outbox_.add(std::move(frame));
  continue_writing();
  return true;
}

void stream_session::close(std::string reason) {
  std::lock_guard lock{mutex_};
  if (stage_ > stage::open || closing_) return;
  closing_ = one_line(reason);
  if (call_ == nullptr) return;
  call_->heartbeat_after(defaults::linger);
  continue_writing();
}

void stream_session::abort(const std::string& reason) {
  std::lock_guard lock{mutex_};
  cancel(reason);
}

session_stats stream_session::stats() const {
  std::lock_guard lock{mutex_};
  auto now = stats_;
  now.frames_sent = outbox_.frames_packed();
  now.bytes_sent = outbox_.bytes_packed();
  now.outbox_bytes = outbox_.bytes();
  return now;
}

// -- from the call --------------------------------------------------------------------------------

void stream_session::start(stream_call& call) {
  std::lock_guard lock{mutex_};
  call_ = &call;
  reading_ = true;
  call_->read(incoming_);
  if (!options_.is_client) return;
  *outgoing_.mutable_hello() = first_hello();
  write_packet();
  call_->heartbeat_after(defaults::attempt_limit);
}

void stream_session::was_read(bool good) {
  bool agreed;
  {
    std::lock_guard lock{mutex_};
    if (!good || stage_ > stage::open) return end();
    agreed = stage_ == stage::open;
  }
  if (!(agreed ? take() : on_hello())) return;
  std::lock_guard lock{mutex_};
  reading_ = false;
  continue_reading();
}

void stream_session::was_written(bool good) {
  std::lock_guard lock{mutex_};
  writing_ = false;
  outgoing_ = {};
  if (good) return continue_writing();
  if (!options_.is_client) return end();
  // gRPC reports the end of a client's call only when all packets that have arrived were read. The
  // last of them may give the reason.
  broken_ = true;
  continue_reading();
}

void stream_session::was_cancelled() {
  std::lock_guard lock{mutex_};
  end();
}

void stream_session::heartbeat() {
  std::lock_guard lock{mutex_};
  if (call_ == nullptr) return;
  if (stage_ == stage::hello)
    return cancel("no answer from the peer within " +
                  std::to_string(defaults::attempt_limit / std::chrono::seconds{1}) + " s");
  if (closing_) return cancel(*closing_);
  if (reading_) return;
  if (broken_) return cancel("the connection was lost");
  if (!writing_) write_packet();
  call_->heartbeat_after(defaults::heartbeat_period);
}

void stream_session::detach() {
  std::lock_guard lock{mutex_};
  stage_ = stage::over;
  call_ = nullptr;
}

void stream_session::over(const std::string& error) {
  std::shared_ptr<receiver> target;
  options last;
  {
    std::lock_guard lock{mutex_};
    last = std::exchange(options_, {});  // released now, though the session may be kept longer
    target = std::exchange(target_, nullptr);
    outbox_.clear();
    if (reason_.empty() && closing_) reason_ = *closing_;
    if (reason_.empty() && !target) reason_ = error;
    if (reason_.empty()) reason_ = "the connection was lost";
  }
  if (target) target->ended(reason_);
  last.finished(target != nullptr, reason_);
}

// -- hello ----------------------------------------------------------------------------------------

bool stream_session::on_hello() {
  const auto& packet = incoming_;
  if (packet.has_bye()) return refuse(one_line(packet.bye().reason()));
  if (!packet.has_hello()) return refuse("the peer sent no hello");
  Hello reply;
  if (options_.is_client) {
    if (const auto fits = check(packet.hello()); !fits) return refuse(fits.error());
  } else {
    auto chosen = answer(packet.hello());
    if (!chosen) return refuse(chosen.error());
    reply = std::move(*chosen);
  }
  auto target = options_.accept(shared_from_this());
  if (!target) return refuse(one_line(target.error()));
  agree(std::move(*target), std::move(reply));
  return take();
}

void stream_session::agree(std::shared_ptr<receiver> target, Hello reply) {
  if (options_.agreed) options_.agreed();
  std::lock_guard lock{mutex_};
  target_ = std::move(target);
  if (stage_ != stage::hello) return;
  stage_ = stage::open;
  stats_.since = std::chrono::steady_clock::now();
  if (options_.is_client) return continue_writing();
  *outgoing_.mutable_hello() = std::move(reply);
  outbox_.fill(outgoing_);
  write_packet();
}

// A client sends bye, a server ends the call with the reason.
bool stream_session::refuse(const std::string& reason) {
  std::lock_guard lock{mutex_};
  if (reason_.empty()) reason_ = reason;
  if (!options_.is_client || call_ == nullptr) {
    end(reason);
  } else if (stage_ == stage::hello) {
    stage_ = stage::open;
    closing_ = reason;
    call_->heartbeat_after(defaults::linger);
    continue_writing();
  }
  return false;
}

// -- frames ---------------------------------------------------------------------------------------

bool stream_session::take() {
  auto packet = std::exchange(incoming_, {});
  auto frames = inbox_.take(packet);
  if (!frames) {
    abort(frames.error());
    return false;
  }
  std::shared_ptr<receiver> target;
  {
    std::lock_guard lock{mutex_};
    target = target_;
    stats_.frames_received += frames->size();
    for (const auto& frame : *frames) {
      stats_.bytes_received += frame.size();
      stats_.window_bytes += cost_of(frame);
    }
  }
  for (auto& frame : *frames) {
    auto taken = std::make_shared<room>(shared_from_this(), cost_of(frame));
    target->received({std::move(frame), std::move(taken)});
  }
  if (!packet.has_bye()) return true;
  std::lock_guard lock{mutex_};
  if (reason_.empty()) reason_ = one_line(packet.bye().reason());
  end();
  return false;
}

void stream_session::release(std::size_t cost) {
  std::lock_guard lock{mutex_};
  stats_.window_bytes -= cost;
  if (target_) continue_reading();
}

void stream_session::continue_reading() {
  if (reading_ || stage_ != stage::open) return;
  if (stats_.window_bytes >= defaults::window_limit_bytes) {
    if (options_.is_client && !closing_) call_->heartbeat_after(defaults::heartbeat_period);
    return;
  }
  reading_ = true;
  call_->read(incoming_);
}

void stream_session::continue_writing() {
  if (writing_ || broken_ || stage_ != stage::open) return;
  if (outbox_.fill(outgoing_)) return write_packet();
  if (!closing_) return;
  if (bye_sent_) return end();
  bye_sent_ = true;
  outgoing_.mutable_bye()->set_reason(*closing_);
  write_packet();
}

void stream_session::write_packet() {
  writing_ = true;
  call_->write(outgoing_);
}

// -- end ------------------------------------------------------------------------------------------

void stream_session::end(const std::string& refusal) {
  if (stage_ >= stage::ending) return;
  stage_ = stage::ending;
  if (call_ != nullptr) call_->finish(refusal);
}

void stream_session::cancel(const std::string& reason) {
  if (call_ == nullptr) return;
  if (reason_.empty()) reason_ = reason;
  call_->cancel();
  end();
}

}  // namespace troupe::runtime::link
