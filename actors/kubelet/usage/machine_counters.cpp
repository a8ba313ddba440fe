#include "actors/kubelet/usage/machine_counters.hpp"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace troupe::actors {

namespace {

std::string text_of(const char* path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// The number in a line "NAME:  NUMBER kB".
std::optional<std::uint64_t> kib_of(const std::string& text, const std::string& name) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + ":")) continue;
    std::istringstream rest{line.substr(name.size() + 1)};
    std::uint64_t number = 0;
    if (rest >> number) return number;
    break;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> total_less(const std::string& meminfo, const std::string& name) {
  const auto total = kib_of(meminfo, "MemTotal"), left = kib_of(meminfo, name);
  if (!total || !left || *left > *total) return std::nullopt;
  return (*total - *left) * 1024;
}

}  // namespace

std::optional<std::uint64_t> parse_cpu_ns(const std::string& stat, long ticks_per_second) {
  std::istringstream in{stat};
  std::string name;
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, disk = 0, irq = 0, soft_irq = 0;
  in >> name >> user >> nice >> system >> idle >> disk >> irq >> soft_irq;
  if (!in || name != "cpu" || ticks_per_second <= 0) return std::nullopt;
  const auto ticks = user + nice + system + irq + soft_irq;
  return ticks * (1'000'000'000u / static_cast<std::uint64_t>(ticks_per_second));
}

std::optional<std::uint64_t> parse_used_memory(const std::string& meminfo) {
  return total_less(meminfo, "MemAvailable");
}

std::optional<std::uint64_t> parse_all_memory(const std::string& meminfo) {
  return total_less(meminfo, "MemFree");
}

std::optional<usage_counters> read_machine_counters() {
  const auto at = machine_now();
  const auto cpu_ns = parse_cpu_ns(text_of("/proc/stat"), ::sysconf(_SC_CLK_TCK));
  const auto meminfo = text_of("/proc/meminfo");
  const auto memory_bytes = parse_used_memory(meminfo);
  if (!cpu_ns || !memory_bytes) return std::nullopt;
  return usage_counters{at, *cpu_ns, *memory_bytes, parse_all_memory(meminfo).value_or(0)};
}

}  // namespace troupe::actors
