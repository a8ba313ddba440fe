#include "actors/kubelet/health/health_checker.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/health/grpc_check.hpp"
#include "actors/kubelet/health/http_check.hpp"
#include "api/codec/json_text.hpp"

namespace troupe::actors {

namespace {

constexpr const char* too_many = "too many health checks are queued";

// kubernetes: cri-client/pkg/remote_runtime.go, ExecSync.
health_result result_of(const runtime_result<command_result>& answer,
                        const std::vector<std::string>& command) {
  if (!answer) return {check_status::unknown, answer.error().message};
  if (answer->timed_out)
    return {check_status::failure,
            fmt::format("command {} timed out",
                        api::quoted(fmt::format("{}", fmt::join(command, " "))))};
  return {answer->code == 0 ? check_status::success : check_status::failure, answer->output};
}

}  // namespace

// Shared with running commands: they may answer after the checker is destroyed; no command is
// started then.
struct health_checker::commands : std::enable_shared_from_this<commands> {
  struct waiting {
    std::string container_id;
    std::vector<std::string> command;
    runtime::duration timeout;
    std::function<void(health_result)> done;
  };

  commands(std::size_t limit, container_runtime& runtime) : limit{limit}, executor{runtime} {}

  void close() {
    std::unique_lock lock{mutex};
    closed = true;
    queue.clear();
    idle.wait(lock, [this] { return calls == 0; });
  }

  void run(waiting next) {
    {
      const std::lock_guard lock{mutex};
      if (running < limit) {
        ++running;
        ++calls;
      } else if (queue.size() < kubelet_defaults::check_queue) {
        queue.push_back(std::move(next));
        return;
      } else {
        return next.done({check_status::unknown, too_many});
      }
    }
    start(std::move(next));
  }

  void start(waiting next) {
    executor.run_command(
        next.container_id, next.command, next.timeout,
        [self = shared_from_this(), done = next.done, command = next.command](const auto& answer) {
          done(result_of(answer, command));
          self->start_next();
        });
    const std::lock_guard lock{mutex};
    if (--calls == 0) idle.notify_all();
  }

  void start_next() {
    std::optional<waiting> next;
    {
      const std::lock_guard lock{mutex};
      if (closed || queue.empty()) {
        --running;
        return;
      }
      ++calls;
      next = std::move(queue.front());
      queue.pop_front();
    }
    start(std::move(*next));
  }

  const std::size_t limit;
  container_runtime& executor;
  std::mutex mutex;
  std::condition_variable idle;
  bool closed = false;
  std::size_t calls = 0;  // calls of the runtime in progress, on any thread
  std::size_t running = 0;
  std::deque<waiting> queue;
};

health_checker::health_checker(std::string name, std::size_t max_concurrent,
                               std::shared_ptr<container_runtime> runtime)
    : runtime_{std::move(runtime)},
      commands_{std::make_shared<commands>(max_concurrent, *runtime_)},
      cancel_{::eventfd(0, EFD_CLOEXEC)},
      pool_{std::move(name), max_concurrent, kubelet_defaults::check_queue} {}

health_checker::~health_checker() {
  commands_->close();
  const std::uint64_t one = 1;
  static_cast<void>(!::write(cancel_.get(), &one, sizeof one));
}

void health_checker::run(const std::string& container_id, const health_check& check,
                         runtime::duration timeout, std::function<void(health_result)> done) {
  if (const auto* exec = std::get_if<exec_action>(&check))
    return commands_->run({container_id, exec->command, timeout, std::move(done)});
  const auto job = [this, check, timeout, done] {
    if (const auto* http = std::get_if<http_get_action>(&check))
      done(http_check(*http, timeout, cancel_.get()));
    else if (const auto* grpc = std::get_if<grpc_action>(&check))
      done(grpc_check(*grpc, timeout, cancel_.get()));
    else
      done(tcp_check(std::get<tcp_socket_action>(check), timeout, cancel_.get()));
  };
  if (!pool_.post(job)) done({check_status::unknown, too_many});
}

}  // namespace troupe::actors
