// Captures the log of the program under test.
#pragma once

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace troupe::test {

class memory_sink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::string text() {
    std::lock_guard lock{mutex_};
    return text_;
  }
  std::string take() {
    std::lock_guard lock{mutex_};
    return std::exchange(text_, {});
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    text_.append(line.data(), line.size());
  }
  void flush_() override {}

  std::string text_;
};

// The default logger's lines, from `debug` on, while this exists. Loggers that are copied meanwhile
// keep its sink.
class captured_log {
 public:
  captured_log() {
    auto logger = std::make_shared<spdlog::logger>("heard", sink_);
    logger->set_level(spdlog::level::debug);
    spdlog::set_default_logger(std::move(logger));
  }
  ~captured_log() { spdlog::set_default_logger(before_); }
  captured_log(const captured_log&) = delete;
  captured_log& operator=(const captured_log&) = delete;

  // Everything since the start, or since the last `take`.
  std::string text() const { return sink_->text(); }
  std::string take() { return sink_->take(); }

 private:
  const std::shared_ptr<memory_sink> sink_ = std::make_shared<memory_sink>();
  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

}  // namespace troupe::test
