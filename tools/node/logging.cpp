#include "tools/node/logging.hpp"

#include <fmt/compile.h>
#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <ctime>

#include "tools/defaults.hpp"

namespace troupe::tools {

namespace {

spdlog::level::level_enum to_spdlog(config::log_level level) {
  switch (level) {
    case config::log_level::trace:
      return spdlog::level::trace;
    case config::log_level::debug:
      return spdlog::level::debug;
    case config::log_level::info:
      return spdlog::level::info;
    case config::log_level::warning:
      return spdlog::level::warn;
    case config::log_level::error:
      break;
  }
  return spdlog::level::err;
}

std::string_view view(spdlog::string_view_t text) {
  return {text.data(), text.size()};
}

// Escapes as in a JSON string; in text lines quotes and backslashes are unchanged.
void append_escaped(spdlog::memory_buf_t& to, std::string_view text, bool json) {
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) {
      fmt::format_to(std::back_inserter(to), "\\u{:04x}", code);
    } else {
      if (json && (c == '"' || c == '\\')) to.push_back('\\');
      to.push_back(c);
    }
  }
}

void append_time(spdlog::memory_buf_t& to, spdlog::log_clock::time_point when) {
  using namespace std::chrono;
  const auto seconds = spdlog::log_clock::to_time_t(when);
  const auto millis = duration_cast<milliseconds>(when.time_since_epoch()).count() % 1000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  fmt::format_to(std::back_inserter(to), FMT_COMPILE("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z"),
                 utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                 utc.tm_sec, millis);
}

}  // namespace

void line_formatter::format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) {
  const auto level = view(spdlog::level::to_string_view(message.level));
  const bool json = format_ == config::log_format::json;
  auto out = std::back_inserter(to);
  if (json) fmt::format_to(out, R"({{"time":")");
  append_time(to, message.time);
  if (json) {
    fmt::format_to(out, FMT_COMPILE(R"(","level":"{}","logger":"{}","message":")"), level,
                   view(message.logger_name));
  } else {
    fmt::format_to(out, FMT_COMPILE(" {:<7} {}: "), level, view(message.logger_name));
  }
  append_escaped(to, view(message.payload), json);
  to.append(std::string_view(json ? "\"}\n" : "\n"));
}

std::unique_ptr<spdlog::formatter> line_formatter::clone() const {
  return std::make_unique<line_formatter>(format_);
}

void start_logging(const config::log_config& wanted) {
  spdlog::init_thread_pool(defaults::log_queue_lines, 1);
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger =
      std::make_shared<spdlog::async_logger>("troupe", std::move(sink), spdlog::thread_pool(),
                                             spdlog::async_overflow_policy::overrun_oldest);
  logger->set_formatter(std::make_unique<line_formatter>(wanted.format));
  logger->set_level(to_spdlog(wanted.level));
  spdlog::set_default_logger(std::move(logger));
}

void stop_logging() {
  // Joins the writing thread before the logger is destroyed.
  const auto last = spdlog::default_logger();
  spdlog::shutdown();
}

}  // namespace troupe::tools
