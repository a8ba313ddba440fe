#include "actors/kubelet/os/path_check.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace troupe::actors {

namespace {

using check_result = tl::expected<void, std::string>;

struct late_paths {
  std::mutex mutex;
  std::set<std::string> paths;
};

// Never destroyed: threads that are blocked use it until the end of the program.
late_paths& all_late_paths() {
  static auto& all = *new late_paths;
  return all;
}

struct pending_check {
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<check_result> result;
  bool late = false;
};

void run_check(pending_check& pending, const std::string& path,
               const std::function<check_result()>& check) {
  check_result result;
  try {
    result = check();
  } catch (const std::exception& e) {
    result = tl::make_unexpected(std::string{e.what()});
  }
  const std::lock_guard lock{pending.mutex};
  pending.result = std::move(result);
  pending.ended.notify_all();
  if (!pending.late) return;
  auto& late = all_late_paths();
  const std::lock_guard paths_lock{late.mutex};
  late.paths.erase(path);
}

// Empty: the path may be checked.
std::string reason_to_wait(const std::string& path) {
  auto& late = all_late_paths();
  const std::lock_guard lock{late.mutex};
  if (late.paths.contains(path))
    return fmt::format("the file system of {} has not answered an earlier check yet", path);
  if (late.paths.size() >= kubelet_defaults::late_path_checks)
    return fmt::format("{} is not checked: the file systems of {} other paths do not answer", path,
                       late.paths.size());
  return {};
}

}  // namespace

check_result check_in_time(const std::string& path, std::function<check_result()> check,
                           std::chrono::milliseconds limit) {
  if (auto reason = reason_to_wait(path); !reason.empty())
    return tl::make_unexpected(std::move(reason));
  const auto pending = std::make_shared<pending_check>();
  try {
    std::thread{[pending, path, check = std::move(check)] {
      pthread_setname_np(pthread_self(), "path check");
      run_check(*pending, path, check);
    }}.detach();
  } catch (const std::system_error& e) {
    return tl::make_unexpected(fmt::format("no thread checks {}: {}", path, e.what()));
  }
  std::unique_lock lock{pending->mutex};
  if (pending->ended.wait_for(lock, limit, [&] { return pending->result.has_value(); }))
    return *pending->result;
  auto& late = all_late_paths();
  const std::lock_guard paths_lock{late.mutex};
  // Another check of the same path may be late as well: the first that ends removes the path.
  late.paths.insert(path);
  pending->late = true;
  return tl::make_unexpected(
      fmt::format("the file system of {} did not answer within {} ms", path, limit.count()));
}

check_result check_answers(const std::string& path) {
  return check_in_time(path, [path]() -> check_result {
    struct stat info {};
    static_cast<void>(::stat(path.c_str(), &info));
    return {};
  });
}

}  // namespace troupe::actors
