// Captures the log of the room actors.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "actors/core/log.hpp"
#include "support/captured_log.hpp"

namespace troupe::test {

// The room's lines from `debug` on while this exists, each as "level message". Construct it before
// actors that have threads; it must outlive them.
class room_log {
 public:
  room_log() : before_{actors::log().level()} {
    sink_->set_pattern("%l %v");
    actors::log().sinks().push_back(sink_);
    actors::log().set_level(spdlog::level::debug);
  }
  ~room_log() {
    actors::log().sinks().pop_back();
    actors::log().set_level(before_);
  }
  room_log(const room_log&) = delete;
  room_log& operator=(const room_log&) = delete;

  std::string text() const { return sink_->text(); }
  // The number of lines that contain the words.
  std::size_t count(const std::string& words) const {
    const auto all = text();
    std::size_t found = 0;
    for (auto at = all.find(words); at != all.npos; at = all.find(words, at + 1))
      ++found;
    return found;
  }

 private:
  const std::shared_ptr<memory_sink> sink_ = std::make_shared<memory_sink>();
  const spdlog::level::level_enum before_;
};

}  // namespace troupe::test
