#include "actors/kubelet/health/health_checker.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/health/http_check.hpp"
#include "actors/kubelet/process/container_exec.hpp"

namespace troupe::actors {

namespace {

health_result exec_check(const std::string& program, const container_dir& dir,
                         const exec_action& check, runtime::duration timeout, int cancel) {
  const auto result = run_in_container(program, dir, check.command, timeout, cancel);
  if (!result) return {check_status::unknown, result.error()};
  if (result->timed_out) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
    return {check_status::failure, fmt::format("command timed out after {}s", seconds)};
  }
  return {result->code == 0 ? check_status::success : check_status::failure, result->output,
          result->code};
}

}  // namespace

health_checker::health_checker(std::string name, std::size_t threads, std::string program)
    : name_{std::move(name)},
      threads_{threads},
      program_{std::move(program)},
      cancel_{::eventfd(0, EFD_CLOEXEC)} {}

health_checker::~health_checker() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(cancel_.get(), &one, sizeof one));
}

void health_checker::run(const container_dir& dir, const health_check& check,
                         runtime::duration timeout, std::function<void(health_result)> done) {
  std::call_once(begun_, [this] {
    pool_ = std::make_unique<runtime::worker_pool>(name_, threads_, kubelet_defaults::check_queue);
  });
  const auto job = [this, dir, check, timeout, done] {
    if (const auto* http = std::get_if<http_get_action>(&check))
      done(http_check(*http, timeout, cancel_.get()));
    else if (const auto* tcp = std::get_if<tcp_socket_action>(&check))
      done(tcp_check(*tcp, timeout, cancel_.get()));
    else
      done(exec_check(program_, dir, std::get<exec_action>(check), timeout, cancel_.get()));
  };
  if (!pool_->post(job)) done({check_status::unknown, "too many checks wait for their turn"});
}

}  // namespace troupe::actors
