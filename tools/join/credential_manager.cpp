#include "tools/join/credential_manager.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <random>
#include <utility>

#include "server/credentials/x509.hpp"
#include "tools/join/defaults.hpp"
#include "tools/join/enrolment.hpp"

namespace troupe::tools {

namespace {

double random_part() {
  std::random_device source;
  return std::uniform_real_distribution<double>{0, 1}(source);
}

}  // namespace

std::chrono::milliseconds until_renewal(const std::string& certificate, double jitter,
                                        std::chrono::system_clock::time_point now) {
  using std::chrono::milliseconds;
  const auto valid = server::x509::read_validity(certificate);
  if (!valid) return milliseconds{0};
  const auto rest = (valid->until - valid->from) * join_defaults::renew_below *
                    (1 + join_defaults::renew_jitter * jitter);
  const auto wait = std::chrono::duration_cast<milliseconds>(valid->until - rest - now);
  return std::max(wait, milliseconds{0});
}

credential_manager::credential_manager(join_folder folder, joined_credentials held)
    : folder_{std::move(folder)}, jitter_{random_part()}, held_{std::move(held)}, thread_{[this] {
        keep();
      }} {}

credential_manager::~credential_manager() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

joined_credentials credential_manager::now() const {
  const std::lock_guard lock{mutex_};
  return held_;
}

void credential_manager::learn(const std::string& control_planes) {
  const std::lock_guard lock{mutex_};
  if (held_.control_planes == control_planes) return;
  held_.control_planes = control_planes;
  learned_ = true;
  wake_.notify_all();
}

void credential_manager::save_learned(std::unique_lock<std::mutex>& lock) {
  learned_ = false;
  const auto held = held_;
  lock.unlock();
  const auto saved = folder_.save(held);
  if (!saved) spdlog::warn("the list of control planes cannot be stored: {}", saved.error());
  lock.lock();
  unsaved_ = !saved;
}

void credential_manager::keep() {
  auto pause = join_defaults::renew_retry_first;
  std::unique_lock lock{mutex_};
  auto next_try = std::chrono::steady_clock::time_point{};
  while (!ending_) {
    if (learned_ || unsaved_) save_learned(lock);
    auto wait = until_renewal(held_.certificate, jitter_, std::chrono::system_clock::now());
    const auto held_back =
        std::chrono::ceil<std::chrono::milliseconds>(next_try - std::chrono::steady_clock::now());
    if (wait.count() == 0 && held_back.count() > 0) {
      wait = held_back;
    } else if (wait.count() == 0) {
      lock.unlock();
      const bool done = renew_once();
      lock.lock();
      wait = done ? std::chrono::milliseconds{0} : pause;
      pause = done ? join_defaults::renew_retry_first
                   : std::min(pause * 2, join_defaults::renew_retry_longest);
      next_try = std::chrono::steady_clock::now() + wait;
    }
    wake_.wait_for(lock, std::min(wait, join_defaults::clock_check_period),
                   [this] { return ending_ || learned_; });
  }
}

bool credential_manager::renew_once() {
  auto next = renew(now());
  if (!next) {
    spdlog::warn("the node's certificate cannot be renewed: {}", next.error());
    return false;
  }
  if (const auto saved = folder_.save(*next); !saved) {
    spdlog::warn("the node's certificate cannot be stored: {}", saved.error());
    return false;
  }
  spdlog::info("the node's certificate is renewed");
  const auto rest = until_renewal(next->certificate, jitter_, std::chrono::system_clock::now());
  const std::lock_guard lock{mutex_};
  learned_ = learned_ || next->control_planes != held_.control_planes;
  next->control_planes = held_.control_planes;
  held_ = std::move(*next);
  if (rest.count() > 0) return true;
  spdlog::warn("the new one is already due for renewal: is this machine's clock right?");
  return false;
}

}  // namespace troupe::tools
