#include "runtime/link/transport/conversation.hpp"

#include <chrono>
#include <utility>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/greeting.hpp"
#include "runtime/link/transport/text.hpp"

namespace troupe::runtime::link {

// Of one delivery in the window.
class conversation::room {
 public:
  room(std::shared_ptr<conversation> of, std::size_t cost) : of_{std::move(of)}, cost_{cost} {}
  room(const room&) = delete;
  room& operator=(const room&) = delete;
  ~room() { of_->release(cost_); }

 private:
  const std::shared_ptr<conversation> of_;
  const std::size_t cost_;
};

// -- session --------------------------------------------------------------------------------------

bool conversation::send(std::string frame) {
  std::lock_guard lock{mutex_};
  if (stage_ > stage::open || closing_ || frame.size() > defaults::frame_limit_bytes ||
      outbox_.bytes() >= defaults::outbox_limit_bytes)
    return false;
  outbox_.add(std::move(frame));
  write_on();
  return true;
}

void conversation::close(std::string reason) {
  std::lock_guard lock{mutex_};
  if (stage_ > stage::open || closing_) return;
  closing_ = one_line(reason);
  if (line_ == nullptr) return;
  line_->beat_after(defaults::linger);
  write_on();
}

void conversation::abort(const std::string& reason) {
  std::lock_guard lock{mutex_};
  cancel(reason);
}

session_stats conversation::stats() const {
  std::lock_guard lock{mutex_};
  auto now = stats_;
  now.frames_sent = outbox_.frames_packed();
  now.bytes_sent = outbox_.bytes_packed();
  now.outbox_bytes = outbox_.bytes();
  return now;
}

// -- from the line --------------------------------------------------------------------------------

void conversation::begin(line& with) {
  std::lock_guard lock{mutex_};
  line_ = &with;
  reading_ = true;
  line_->read(in_);
  if (!parts_.calling) return;
  *out_.mutable_hello() = first_hello();
  write_packet();
  line_->beat_after(defaults::attempt_limit);
}

void conversation::was_read(bool good) {
  bool greeted;
  {
    std::lock_guard lock{mutex_};
    if (!good || stage_ > stage::open) return end();
    greeted = stage_ == stage::open;
  }
  if (!(greeted ? take() : greet())) return;
  std::lock_guard lock{mutex_};
  reading_ = false;
  read_on();
}

void conversation::was_written(bool good) {
  std::lock_guard lock{mutex_};
  writing_ = false;
  out_ = {};
  if (!good) return end();
  write_on();
}

void conversation::was_cancelled() {
  std::lock_guard lock{mutex_};
  end();
}

void conversation::beat() {
  std::lock_guard lock{mutex_};
  if (line_ == nullptr) return;
  if (stage_ == stage::greeting)
    return cancel("no answer from the other side within " +
                  std::to_string(defaults::attempt_limit / std::chrono::seconds{1}) + " s");
  if (closing_) return cancel(*closing_);
  if (reading_) return;
  if (!writing_) write_packet();
  line_->beat_after(defaults::heartbeat_period);
}

void conversation::leave_line() {
  std::lock_guard lock{mutex_};
  stage_ = stage::over;
  line_ = nullptr;
}

void conversation::over(const std::string& error) {
  std::shared_ptr<receiver> target;
  parts last;
  {
    std::lock_guard lock{mutex_};
    last = std::exchange(parts_, {});  // what they hold is not kept by who keeps the session
    target = std::exchange(target_, nullptr);
    outbox_.clear();
    if (reason_.empty() && closing_) reason_ = *closing_;
    if (reason_.empty() && !target) reason_ = error;
    if (reason_.empty()) reason_ = "the connection was lost";
  }
  if (target) target->ended(reason_);
  last.finished(target != nullptr, reason_);
}

// -- greeting -------------------------------------------------------------------------------------

bool conversation::greet() {
  const auto& packet = in_;
  if (packet.has_bye()) return refuse(one_line(packet.bye().reason()));
  if (!packet.has_hello()) return refuse("the other side did not say hello");
  Hello to_say;
  if (parts_.calling) {
    if (const auto fits = check(packet.hello()); !fits) return refuse(fits.error());
  } else {
    auto chosen = answer(packet.hello());
    if (!chosen) return refuse(chosen.error());
    to_say = std::move(*chosen);
  }
  auto target = parts_.accept(shared_from_this());
  if (!target) return refuse(one_line(target.error()));
  agree(std::move(*target), std::move(to_say));
  return take();
}

void conversation::agree(std::shared_ptr<receiver> target, Hello to_say) {
  if (parts_.agreed) parts_.agreed();
  std::lock_guard lock{mutex_};
  target_ = std::move(target);
  if (stage_ != stage::greeting) return;
  stage_ = stage::open;
  stats_.since = std::chrono::steady_clock::now();
  if (parts_.calling) return write_on();
  *out_.mutable_hello() = std::move(to_say);
  outbox_.fill(out_);
  write_packet();
}

// The caller says bye, the called ends the call with the reason.
bool conversation::refuse(const std::string& reason) {
  std::lock_guard lock{mutex_};
  if (reason_.empty()) reason_ = reason;
  if (!parts_.calling || line_ == nullptr) {
    end(reason);
  } else if (stage_ == stage::greeting) {
    stage_ = stage::open;
    closing_ = reason;
    line_->beat_after(defaults::linger);
    write_on();
  }
  return false;
}

// -- frames ---------------------------------------------------------------------------------------

bool conversation::take() {
  auto packet = std::exchange(in_, {});
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

void conversation::release(std::size_t cost) {
  std::lock_guard lock{mutex_};
  stats_.window_bytes -= cost;
  if (target_) read_on();
}

void conversation::read_on() {
  if (reading_ || stage_ != stage::open) return;
  if (stats_.window_bytes >= defaults::window_limit_bytes) {
    if (parts_.calling && !closing_) line_->beat_after(defaults::heartbeat_period);
    return;
  }
  reading_ = true;
  line_->read(in_);
}

void conversation::write_on() {
  if (writing_ || stage_ != stage::open) return;
  if (outbox_.fill(out_)) return write_packet();
  if (!closing_) return;
  if (bye_said_) return end();
  bye_said_ = true;
  out_.mutable_bye()->set_reason(*closing_);
  write_packet();
}

void conversation::write_packet() {
  writing_ = true;
  line_->write(out_);
}

// -- the end --------------------------------------------------------------------------------------

void conversation::end(const std::string& refusal) {
  if (stage_ >= stage::ending) return;
  stage_ = stage::ending;
  if (line_ != nullptr) line_->finish(refusal);
}

void conversation::cancel(const std::string& reason) {
  if (line_ == nullptr) return;
  if (reason_.empty()) reason_ = reason;
  line_->cancel();
  end();
}

}  // namespace troupe::runtime::link
