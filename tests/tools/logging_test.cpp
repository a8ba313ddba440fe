#include "tools/node/logging.hpp"

#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>

#include "tools/child.hpp"

using namespace troupe::tools;
using namespace troupe::tools::test;
using Catch::Matchers::Contains;
using troupe::config::log_config;
using troupe::config::log_format;
using troupe::config::log_level;

namespace {

std::string formatted(log_format format, const std::string& text) {
  spdlog::details::log_msg message("store", spdlog::level::warn, text);
  message.time = spdlog::log_clock::from_time_t(1'416'602'760) + std::chrono::milliseconds(7);
  spdlog::memory_buf_t line;
  line_formatter(format).format(message, line);
  return {line.data(), line.size()};
}

// The stderr of a process with this log.
std::string written(const log_config& wanted) {
  child process([&] {
    start_logging(wanted);
    spdlog::debug("a detail");
    spdlog::info("an event");
    spdlog::default_logger()->clone("store")->warn("a warning");
    stop_logging();
    return 0;
  });
  process.wait();
  return process.err();
}

}  // namespace

TEST_CASE("a line for people has time, level, room and text") {
  CHECK(formatted(log_format::text, "say \"hi\"\\") ==
        "2014-11-21T20:46:00.007Z warning store: say \"hi\"\\\n");
}

TEST_CASE("a line for machines is one JSON object") {
  CHECK(formatted(log_format::json, "say \"hi\"\\") ==
        R"({"time":"2014-11-21T20:46:00.007Z","level":"warning","logger":"store",)"
        R"("message":"say \"hi\"\\"})"
        "\n");
}

TEST_CASE("text from outside cannot forge a line") {
  CHECK_THAT(formatted(log_format::text, "a\n2014 b\x1b"), Contains("a\\u000a2014 b\\u001b\n"));
  CHECK_THAT(formatted(log_format::json, "a\nb"), Contains("\"a\\u000ab\""));
}

TEST_CASE("every room's log has the level and form that the configuration asks for") {
  if (!can_fork_with_threads()) return;
  const auto text = written({log_level::info, log_format::text});
  CHECK_THAT(text, !Contains("a detail"));
  CHECK_THAT(text, Contains("info    troupe: an event\n"));
  CHECK_THAT(text, Contains("warning store: a warning\n"));
  CHECK_THAT(written({log_level::debug, log_format::json}), Contains("\"message\":\"a detail\"}"));
}
