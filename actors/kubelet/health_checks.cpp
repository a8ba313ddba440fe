#include "actors/kubelet/health_checks.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include "actors/kubelet/container_exec.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/http_check.hpp"

namespace troupe::actors {

namespace {

using outcome = health_answer::kind;

health_answer exec_check(const std::string& program, const container_dir& dir,
                         const exec_question& question, runtime::duration timeout, int cancel) {
  const auto result = run_in_container(program, dir, question.command, timeout, cancel);
  if (!result) return {outcome::unknown, result.error()};
  if (result->timed_out) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
    return {outcome::failure, fmt::format("command timed out after {}s", seconds)};
  }
  return {result->code == 0 ? outcome::success : outcome::failure, result->output, result->code};
}

}  // namespace

health_checks::health_checks(std::string name, std::size_t threads, std::string program)
    : name_{std::move(name)},
      threads_{threads},
      program_{std::move(program)},
      cancel_{::eventfd(0, EFD_CLOEXEC)} {}

health_checks::~health_checks() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(cancel_.get(), &one, sizeof one));
}

void health_checks::ask(const container_dir& dir, const health_question& question,
                        runtime::duration timeout, std::function<void(health_answer)> done) {
  std::call_once(begun_, [this] {
    pool_ = std::make_unique<runtime::worker_pool>(name_, threads_, kubelet_defaults::check_queue);
  });
  const auto job = [this, dir, question, timeout, done] {
    if (const auto* http = std::get_if<http_question>(&question))
      done(http_check(*http, timeout, cancel_.get()));
    else if (const auto* tcp = std::get_if<tcp_question>(&question))
      done(tcp_check(*tcp, timeout, cancel_.get()));
    else
      done(exec_check(program_, dir, std::get<exec_question>(question), timeout, cancel_.get()));
  };
  if (!pool_->post(job)) done({outcome::unknown, "too many checks wait for their turn"});
}

}  // namespace troupe::actors
