#include "persistence/engine/acknowledged_mark.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>

namespace troupe::persistence {

namespace {

// One line of readable text, `<revision> <its complement>`, so that a torn or foreign file is
// detected.
constexpr std::size_t line_size = 42;

revision parse(const char* first, const char* last) {
  revision value = 0, complement = 0;
  const auto [space, bad] = std::from_chars(first, last, value);
  if (bad != std::errc{} || space == last || *space != ' ') return 0;
  const auto second = std::from_chars(space + 1, last, complement);
  return second.ec == std::errc{} && complement == ~value ? value : 0;
}

}  // namespace

acknowledged_mark::acknowledged_mark(const std::string& path)
    : file_{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)} {
  if (file_ < 0) return;
  std::array<char, line_size> line{};
  const auto got = ::pread(file_, line.data(), line.size(), 0);
  if (got > 0) value_ = parse(line.data(), line.data() + got);
}

acknowledged_mark::~acknowledged_mark() {
  if (file_ >= 0) ::close(file_);
}

void acknowledged_mark::value(revision at) noexcept {
  value_ = at;
  if (file_ < 0) return;
  std::array<char, line_size + 1> line{};
  std::snprintf(line.data(), line.size(), "%020llu %020llu\n", static_cast<unsigned long long>(at),
                static_cast<unsigned long long>(~at));
  [[maybe_unused]] const auto ignored = ::pwrite(file_, line.data(), line_size, 0);
}

}  // namespace troupe::persistence
