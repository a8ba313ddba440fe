#include "runtime/worker_pool.hpp"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/detail/log.hpp"

namespace troupe::runtime {

struct worker_pool::impl {
  void run() {
    std::unique_lock lock{mutex};
    for (;;) {
      changed.wait(lock, [this] { return closing || !jobs.empty(); });
      if (jobs.empty()) return;
      auto job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      try {
        job();
      } catch (const std::exception& e) {
        log().error("a job of the pool {} threw: {}", name, e.what());
      } catch (...) {
        log().error("a job of the pool {} threw something that is not an exception", name);
      }
      job = nullptr;
      lock.lock();
    }
  }

  std::string name;
  std::size_t limit;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<unique_function<void()>> jobs;
  bool closing = false;
  std::vector<std::thread> threads;
};

worker_pool::worker_pool(std::string name, std::size_t threads, std::size_t queue_limit)
    : impl_{std::make_unique<impl>()} {
  impl_->name = std::move(name);
  impl_->limit = queue_limit;
  for (std::size_t i = 0; i < threads; ++i) {
    impl_->threads.emplace_back([this] { impl_->run(); });
    // Linux keeps 15 characters of a thread's name.
    pthread_setname_np(impl_->threads.back().native_handle(), impl_->name.substr(0, 15).c_str());
  }
}

worker_pool::~worker_pool() {
  {
    std::lock_guard lock{impl_->mutex};
    impl_->closing = true;
  }
  impl_->changed.notify_all();
  for (auto& thread : impl_->threads)
    thread.join();
}

bool worker_pool::post(unique_function<void()> job) {
  {
    std::lock_guard lock{impl_->mutex};
    if (impl_->closing || impl_->jobs.size() >= impl_->limit) return false;
    impl_->jobs.push_back(std::move(job));
  }
  impl_->changed.notify_one();
  return true;
}

std::size_t worker_pool::queued() const {
  std::lock_guard lock{impl_->mutex};
  return impl_->jobs.size();
}

}  // namespace troupe::runtime
