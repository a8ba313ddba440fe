#include "actors/kubelet/os/process_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <sstream>
#include <string>
#include <unordered_set>
#include <utility>

#include "runtime/unique_fd.hpp"

namespace troupe::actors {

namespace {

constexpr std::size_t longest_stat_bytes = 4096;  // a page: the kernel never writes more

std::string read_stat(pid_t pid) {
  const runtime::unique_fd file{
      ::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC)};
  char text[longest_stat_bytes];
  const auto n = file ? ::read(file.get(), text, sizeof text) : 0;
  return {text, static_cast<std::size_t>(n > 0 ? n : 0)};
}

}  // namespace

// The second field is the command in parentheses and may contain any character.
std::optional<process_entry> parse_process_stat(std::string_view text) {
  const auto end = text.rfind(')');
  process_entry entry;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), entry.pid);
  if (problem != std::errc{} || end == text.npos) return std::nullopt;
  std::istringstream in{std::string{text.substr(end + 1)}};
  char state = 0;
  std::string skipped;
  std::uint64_t user = 0, system = 0;
  std::int64_t children_user = 0, children_system = 0, pages = 0;
  pid_t group = 0;
  in >> state >> entry.parent >> group >> entry.session;
  for (int field = 7; field <= 13; ++field)
    in >> skipped;
  in >> user >> system >> children_user >> children_system;
  for (int field = 18; field <= 23; ++field)
    in >> skipped;
  in >> pages;
  if (!in || state == 'X') return std::nullopt;
  entry.ticks = user + system + static_cast<std::uint64_t>(children_user + children_system);
  entry.pages = static_cast<std::uint64_t>(pages > 0 ? pages : 0);
  return entry;
}

process_table::process_table(std::vector<process_entry> all) : all_{std::move(all)} {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    children_.emplace(all_[i].parent, i);
    session_.emplace(all_[i].session, i);
  }
}

process_table process_table::read(std::size_t limit) {
  std::vector<process_entry> all;
  std::error_code problem;
  for (const auto& each : std::filesystem::directory_iterator{"/proc", problem}) {
    if (all.size() == limit) break;
    const auto pid = std::atoi(each.path().filename().c_str());
    if (pid <= 0) continue;
    if (auto entry = parse_process_stat(read_stat(pid))) all.push_back(*entry);
  }
  return process_table{std::move(all)};
}

std::optional<process_usage> process_table::usage_of(pid_t root) const {
  std::unordered_set<std::size_t> seen;
  std::vector<std::size_t> left;
  const auto add = [&](const auto& range) {
    for (auto at = range.first; at != range.second; ++at)
      if (seen.insert(at->second).second) left.push_back(at->second);
  };
  add(session_.equal_range(root));
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (all_[i].pid == root && seen.insert(i).second) left.push_back(i);
  if (left.empty()) return std::nullopt;
  process_usage sum;
  while (!left.empty()) {
    const auto& entry = all_[left.back()];
    left.pop_back();
    sum.ticks += entry.ticks;
    sum.pages += entry.pages;
    add(children_.equal_range(entry.pid));
  }
  return sum;
}

}  // namespace troupe::actors
