#include "persistence/replica/blocking_log.hpp"

#include <spdlog/spdlog.h>

#include <future>
#include <thread>
#include <utility>

#include "persistence/replica/defaults.hpp"

namespace troupe::persistence {

namespace {

// A retry would fail with the same error.
bool is_final(errc code) {
  return code == errc::invalid || code == errc::too_large || code == errc::no_space ||
         code == errc::compacted || code == errc::corrupt || code == errc::restored;
}

}  // namespace

blocking_log::blocking_log(shared_log& log, std::string name, std::chrono::milliseconds limit)
    : log_{log}, name_{std::move(name)}, limit_{limit} {}

template <class T>
expected<T> blocking_log::wait_for(
    const std::function<void(std::function<void(expected<T>)>)>& ask) {
  const auto until = std::chrono::steady_clock::now() + limit_;
  for (;;) {
    const auto answer = std::make_shared<std::promise<expected<T>>>();
    auto answered = answer->get_future();
    ask([answer](expected<T> reply) { answer->set_value(std::move(reply)); });
    if (answered.wait_until(until) != std::future_status::ready)
      return fail(errc::unknown, fmt::format("{} does not answer", name_));
    auto reply = answered.get();
    if (reply) return reply;
    auto& reason = reply.error();
    if (is_final(reason.code) || std::chrono::steady_clock::now() >= until)
      return fail(reason.code, fmt::format("{}: {}", name_, reason.message));
    spdlog::info("store: waiting for {}: {}", name_, reason.message);
    std::this_thread::sleep_for(defaults::log_wait_period);
  }
}

template expected<revision> blocking_log::wait_for(
    const std::function<void(std::function<void(expected<revision>)>)>& ask);

expected<std::string> blocking_log::identity() {
  return wait_for<std::string>([this](auto take) { log_.identity(std::move(take)); });
}

expected<std::optional<log_item>> blocking_log::read(const std::string& key) {
  return wait_for<std::optional<log_item>>(
      [this, &key](auto take) { log_.read(key, std::move(take)); });
}

expected<log_page> blocking_log::list(const log_range& range) {
  return wait_for<log_page>([this, &range](auto take) { log_.list(range, std::move(take)); });
}

expected<log_answer> blocking_log::submit(const log_transaction& request) {
  return wait_for<log_answer>([this, &request](auto take) {
    log_.submit(request, [take = std::move(take)](log_answer reply) {
      using outcome = log_answer::outcome;
      if (reply.result == outcome::committed || reply.result == outcome::conflict)
        return take(std::move(reply));
      take(fail(std::move(reply.reason)));
    });
  });
}

}  // namespace troupe::persistence
