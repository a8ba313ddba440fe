// The log of the program: lines on stderr, as text or as JSON. Rooms use
// spdlog::default_logger()->clone("room") and so share format, level and destination.
#pragma once

#include <spdlog/formatter.h>

#include "config/node_config.hpp"

namespace troupe::tools {

// Formats one message as one line. Escapes control characters, so that text from outside cannot
// forge a line.
class line_formatter : public spdlog::formatter {
 public:
  explicit line_formatter(config::log_format format) : format_(format) {}

  // 2026-11-21T20:46:00.123Z info    store: opened at revision 12
  // {"time":"2026-…Z","level":"info","logger":"store","message":"opened at revision 12"}
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) override;
  std::unique_ptr<spdlog::formatter> clone() const override;

 private:
  config::log_format format_;
};

// Makes the default logger, named "troupe". It writes on a thread of its own with a bounded queue:
// logging never blocks on the reader of stderr; if it is too slow, the oldest lines are dropped.
void start_logging(const config::log_config& wanted);

// Writes the queued lines and ends the thread.
void stop_logging();

}  // namespace troupe::tools
