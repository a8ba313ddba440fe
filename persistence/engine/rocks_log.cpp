#include "persistence/engine/rocks_log.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <cstdarg>
#include <cstdio>

namespace troupe::persistence {

namespace {

class rocks_log final : public rocksdb::Logger {
 public:
  rocks_log() : rocksdb::Logger{rocksdb::InfoLogLevel::WARN_LEVEL} {}
  ~rocks_log() override { Close().PermitUncheckedError(); }

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    write(spdlog::level::debug, format, arguments);
  }
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel()) return;
    // The store's error has the meaning; this is the detail.
    write(level >= rocksdb::InfoLogLevel::ERROR_LEVEL ? spdlog::level::warn : spdlog::level::debug,
          format, arguments);
  }

 private:
  void write(spdlog::level::level_enum level, const char* format, va_list arguments) {
    if (!spdlog::should_log(level)) return;
    std::array<char, 1024> line{};
    std::vsnprintf(line.data(), line.size(), format, arguments);
    spdlog::log(level, "store: rocksdb: {}", line.data());
  }
};

}  // namespace

std::shared_ptr<rocksdb::Logger> make_rocks_log() {
  return std::make_shared<rocks_log>();
}

}  // namespace troupe::persistence
