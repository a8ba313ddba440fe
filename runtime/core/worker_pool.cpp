#include "runtime/worker_pool.hpp"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
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

  // Starts the missing threads, as many as the machine allows. Requires the lock.
  void fill() {
    while (threads.size() < wanted) {
      try {
        threads.emplace_back([this] { run(); });
      } catch (const std::system_error& e) {
        if (!std::exchange(short_of_threads, true))
          log().error("the pool {} has {} of {} threads: {}; it tries again when there is work",
                      name, threads.size(), wanted, e.what());
        return;
      }
      // Linux truncates thread names to 15 characters.
      pthread_setname_np(threads.back().native_handle(), name.substr(0, 15).c_str());
    }
    if (std::exchange(short_of_threads, false))
      log().info("the pool {} has all its {} threads", name, wanted);
  }

  std::string name;
  std::size_t wanted;
  std::size_t limit;
  bool short_of_threads = false;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<unique_function<void()>> jobs;
  bool closing = false;
  std::vector<std::thread> threads;
};

worker_pool::worker_pool(std::string name, std::size_t threads, std::size_t queue_limit)
    : impl_{std::make_unique<impl>()} {
  impl_->name = std::move(name);
  impl_->wanted = threads;
  impl_->limit = queue_limit;
  impl_->threads.reserve(threads);
  const std::lock_guard lock{impl_->mutex};
  impl_->fill();
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
    if (impl_->threads.size() < impl_->wanted) impl_->fill();
    if (impl_->threads.empty() && impl_->wanted > 0) return false;
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
