#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/calling.hpp"
#include "runtime/link/transport/certificate.hpp"
#include "runtime/link/transport/library.hpp"
#include "runtime/link/transport/line_timer.hpp"
#include "runtime/link/transport/start.hpp"

namespace troupe::runtime::link {
namespace {

// What a dialer does, shared with its timer. At any time it is waiting for the timer, beginning an
// attempt, or has one session.
class calls : public std::enable_shared_from_this<calls> {
 public:
  explicit calls(dialer_options options) : options_{std::move(options)} {}

  void start() {
    std::lock_guard lock{mutex_};
    begun_ = std::chrono::steady_clock::now();
    dial_after(duration::zero());
  }

  void stop() {
    std::unique_lock lock{mutex_};
    stopping_ = true;
    timer_.stop();
    changed_.wait(lock, [this] { return beginning_ == 0; });
    const auto talk = talk_;
    lock.unlock();
    if (talk) talk->close("the other side stops");
    lock.lock();
    const auto ended = [this] { return talk_ == nullptr; };
    if (!changed_.wait_for(lock, agreed_ ? defaults::linger : duration::zero(), ended)) {
      lock.unlock();
      talk->abort("the link ends");
      lock.lock();
      changed_.wait(lock, ended);
    }
    channel_.reset();
  }

 private:
  // With the lock.
  void dial_after(duration time) {
    if (stopping_) return;
    timer_.set(time, [self = weak_from_this()] {
      if (const auto still = self.lock()) still->dial();
    });
  }

  void dial() {
    {
      std::lock_guard lock{mutex_};
      if (stopping_ || talk_) return;
      ++beginning_;
      agreed_ = false;
      begun_ = std::chrono::steady_clock::now();
    }
    const auto with = options_.credentials();
    if (const auto usable = check(with))
      attempt(with);
    else
      finished(false, usable.error());
    std::lock_guard lock{mutex_};
    --beginning_;
    changed_.notify_all();
  }

  void attempt(const credentials& with) {
    conversation::parts parts;
    parts.calling = true;
    parts.accept = options_.accept;
    parts.agreed = [this] { agreed(); };
    parts.finished = [self = shared_from_this()](bool agreed, const std::string& reason) {
      self->finished(agreed, reason);
    };
    const auto talk = std::make_shared<conversation>(std::move(parts));
    const auto channel = make_channel(options_.to, with);
    // The channel before goes only now: with the last one gRPC ends its threads.
    std::shared_ptr<grpc::Channel> before = channel;
    {
      std::lock_guard lock{mutex_};
      talk_ = talk;
      channel_.swap(before);
    }
    call(channel, talk);
  }

  void agreed() {
    std::lock_guard lock{mutex_};
    agreed_ = true;
  }

  void finished(bool agreed, const std::string& reason) {
    if (!agreed && options_.failed) {
      std::unique_lock lock{mutex_};
      const bool tell = !stopping_;
      lock.unlock();
      if (tell) options_.failed(reason);
    }
    std::lock_guard lock{mutex_};
    const auto now = std::chrono::steady_clock::now();
    if (agreed && now - begun_ >= defaults::redial_calm) period_ = defaults::redial_first;
    const auto wait = std::uniform_int_distribution<duration::rep>{0, period_.count()}(random_);
    period_ = std::min<duration>(period_ * 2, defaults::redial_limit);
    talk_ = nullptr;
    dial_after(std::max<duration>(begun_ + duration{wait} - now, duration::zero()));
    changed_.notify_all();
  }

  const dialer_options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::mt19937_64 random_{std::random_device{}()};
  line_timer timer_;
  std::shared_ptr<grpc::Channel> channel_;
  std::shared_ptr<conversation> talk_;
  duration period_ = defaults::redial_first;  // before jitter, of the next wait
  time_point begun_{};                        // the last attempt
  int beginning_ = 0;                         // attempts, on threads of the timer
  bool agreed_ = false;
  bool stopping_ = false;
};

class grpc_dialer final : public dialer {
 public:
  explicit grpc_dialer(dialer_options options)
      : calls_{std::make_shared<calls>(std::move(options))} {
    calls_->start();
  }
  ~grpc_dialer() override { calls_->stop(); }

 private:
  const std::shared_ptr<calls> calls_;
};

}  // namespace

tl::expected<std::unique_ptr<dialer>, std::string> start_dialer(dialer_options options) {
  use_library();
  return std::make_unique<grpc_dialer>(std::move(options));
}

}  // namespace troupe::runtime::link
