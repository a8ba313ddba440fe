#include "runtime/detail/run_queue.hpp"

#include <pthread.h>

#include <caf/execution_unit.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <string>
#include <system_error>

#include "runtime/defaults.hpp"
#include "runtime/detail/log.hpp"

namespace troupe::runtime {

class run_queue::worker final : public caf::execution_unit {
 public:
  worker(caf::actor_system& system, run_queue& jobs) : caf::execution_unit{&system}, jobs_{jobs} {}

  void exec_later(caf::resumable* job) override { jobs_.push(job); }

  void run() {
    while (auto* job = jobs_.pop()) {
      if (job->resume(this, defaults::max_throughput) == caf::resumable::resume_later) {
        jobs_.push(job);
      } else {
        caf::intrusive_ptr_release(job);
      }
    }
  }

 private:
  run_queue& jobs_;
};

void run_queue::start(caf::actor_system& system, std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) {
    try {
      threads_.emplace_back([this, &system] { worker{system, *this}.run(); });
    } catch (const std::system_error& e) {
      if (i == 0) throw;
      log().error("actors run on {} of {} threads: {}", i, threads, e.what());
      return;
    }
    pthread_setname_np(threads_.back().native_handle(), ("actors/" + std::to_string(i)).c_str());
  }
}

void run_queue::stop() {
  {
    std::lock_guard lock{mutex_};
    closed_ = true;
  }
  filled_.notify_all();
  for (auto& thread : threads_)
    thread.join();
  threads_.clear();
  while (!jobs_.empty()) {
    auto* late = jobs_.front();
    jobs_.pop_front();
    caf::scheduler::abstract_coordinator::cleanup_and_release(late);
  }
}

void run_queue::push(caf::resumable* job) {
  bool wake = false;
  {
    std::lock_guard lock{mutex_};
    jobs_.push_back(job);
    wake = call_one();
  }
  if (wake) filled_.notify_one();
}

caf::resumable* run_queue::pop() {
  std::unique_lock lock{mutex_};
  while (jobs_.empty()) {
    if (closed_) return nullptr;
    ++sleeping_;
    filled_.wait(lock);
    --sleeping_;
    if (woken_ > 0) --woken_;
  }
  auto* job = jobs_.front();
  jobs_.pop_front();
  const bool more = !jobs_.empty() && call_one();
  lock.unlock();
  if (more) filled_.notify_one();
  return job;
}

bool run_queue::call_one() noexcept {
  if (sleeping_ == 0 || woken_ != 0) return false;
  ++woken_;
  return true;
}

}  // namespace troupe::runtime
