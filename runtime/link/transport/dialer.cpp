#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/address_order.hpp"
#include "runtime/link/transport/call_timer.hpp"
#include "runtime/link/transport/certificate.hpp"
#include "runtime/link/transport/client_call.hpp"
#include "runtime/link/transport/library.hpp"
#include "runtime/link/transport/start.hpp"

namespace troupe::runtime::link {
namespace {

// The state of a dialer, shared with its timer. At any time it waits for the timer, starts an
// attempt, or has one session.
class dial_loop : public std::enable_shared_from_this<dial_loop> {
 public:
  explicit dial_loop(dialer_options options) : options_{std::move(options)} {}

  void start() {
    std::lock_guard lock{mutex_};
    attempted_at_ = std::chrono::steady_clock::now();
    dial_after(duration::zero());
  }

  void stop() {
    std::unique_lock lock{mutex_};
    stopping_ = true;
    timer_.stop();
    changed_.wait(lock, [this] { return attempts_ == 0; });
    const auto session = session_;
    lock.unlock();
    if (session) session->close("the peer is shutting down");
    lock.lock();
    const auto ended = [this] { return session_ == nullptr; };
    if (!changed_.wait_for(lock, agreed_ ? defaults::linger : duration::zero(), ended)) {
      lock.unlock();
      session->abort("the link ends");
      lock.lock();
      changed_.wait(lock, ended);
    }
    channel_.reset();
  }

 private:
  // Requires the lock.
  void dial_after(duration time) {
    if (stopping_) return;
    timer_.set(time, [self = weak_from_this()] {
      if (const auto live = self.lock()) live->dial();
    });
  }

  void dial() {
    {
      std::lock_guard lock{mutex_};
      if (stopping_ || session_) return;
      ++attempts_;
      agreed_ = false;
      attempted_at_ = std::chrono::steady_clock::now();
    }
    const auto to = next_address();
    const auto credentials = to ? options_.credentials() : link::credentials{};
    if (!to)
      finished(false, {});
    else if (const auto usable = check(credentials))
      attempt(*to, credentials);
    else
      finished(false, usable.error());
    std::lock_guard lock{mutex_};
    --attempts_;
    changed_.notify_all();
  }

  std::optional<address> next_address() {
    const auto known =
        options_.addresses ? options_.addresses() : std::vector<address>{options_.to};
    std::lock_guard lock{mutex_};
    return order_.next(known);
  }

  void attempt(const address& to, const credentials& credentials) {
    stream_session::options settings;
    settings.is_client = true;
    settings.accept = options_.accept;
    settings.agreed = [this] { agreed(); };
    settings.finished = [self = shared_from_this()](bool agreed, const std::string& reason) {
      self->finished(agreed, reason);
    };
    const auto session = std::make_shared<stream_session>(std::move(settings));
    const auto channel = make_channel(to, credentials);
    // The previous channel is released only now: with the last one gRPC stops its threads.
    std::shared_ptr<grpc::Channel> before = channel;
    {
      std::lock_guard lock{mutex_};
      session_ = session;
      channel_.swap(before);
    }
    start_client_call(channel, session);
  }

  void agreed() {
    std::lock_guard lock{mutex_};
    agreed_ = true;
  }

  // An empty reason: there was no address.
  void finished(bool agreed, const std::string& reason) {
    if (!agreed && options_.failed && !reason.empty()) {
      std::unique_lock lock{mutex_};
      const bool tell = !stopping_;
      lock.unlock();
      if (tell) options_.failed(reason);
    }
    std::lock_guard lock{mutex_};
    const auto now = std::chrono::steady_clock::now();
    if (agreed && now - attempted_at_ >= defaults::redial_calm) {
      period_ = defaults::redial_first;
      order_.begin_round();
    }
    const auto wait = std::uniform_int_distribution<duration::rep>{0, period_.count()}(random_);
    if (order_.round_ended()) period_ = std::min<duration>(period_ * 2, defaults::redial_limit);
    session_ = nullptr;
    dial_after(std::max<duration>(attempted_at_ + duration{wait} - now, duration::zero()));
    changed_.notify_all();
  }

  const dialer_options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::mt19937_64 random_{std::random_device{}()};
  address_order order_{random_()};
  call_timer timer_;
  std::shared_ptr<grpc::Channel> channel_;
  std::shared_ptr<stream_session> session_;
  duration period_ = defaults::redial_first;  // the next wait before jitter
  time_point attempted_at_{};                 // time of the last attempt
  int attempts_ = 0;                          // running attempts on timer threads
  bool agreed_ = false;
  bool stopping_ = false;
};

class grpc_dialer final : public dialer {
 public:
  explicit grpc_dialer(dialer_options options)
      : loop_{std::make_shared<dial_loop>(std::move(options))} {
    loop_->start();
  }
  ~grpc_dialer() override { loop_->stop(); }

 private:
  const std::shared_ptr<dial_loop> loop_;
};

}  // namespace

tl::expected<std::unique_ptr<dialer>, std::string> start_dialer(dialer_options options) {
  use_library();
  return std::make_unique<grpc_dialer>(std::move(options));
}

}  // namespace troupe::runtime::link
