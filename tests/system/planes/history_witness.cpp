#include "system/planes/history_witness.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "persistence/replica/log_record.hpp"
#include "support/programs/process.hpp"
#include "system/node.hpp"
#include "system/planes/stored_facts.hpp"

namespace troupe::test {

using namespace std::chrono_literals;
using persistence::revision;

namespace {

constexpr int look_ms = 100;
constexpr int runs_limit = 10'000;  // bounds restarts of an etcdctl that ends at once

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string kept_of(std::string_view key, std::string_view value) {
  if (key.starts_with(persistence::own_prefix)) return std::string{value};
  if (key.starts_with("/registry/pods/") || key.starts_with("/registry/services/specs/"))
    return facts_of(key, unquoted(value));
  const auto from = value.find('<'), to = value.find('>', from);
  return to == value.npos ? std::string{} : std::string{value.substr(from, to - from + 1)};
}

}  // namespace

void watch_reader::read(std::string_view line) {
  const auto end = line.find("\" : ");
  if (end == line.npos) return;
  const auto name = line.substr(1, end - 1);
  auto value = line.substr(end + 4);
  if (value.starts_with('"')) value = value.substr(1, value.size() - 2);
  if (name == "Type") {
    removed_ = value == "DELETE";
    next_ = {};
  } else if (name == "Key") {
    next_.key = value;
  } else if (name == "CreateRevision") {
    next_.created = number_of(value);
  } else if (name == "ModRevision") {
    at_ = number_of(value);
  } else if (name == "Value" && !removed_) {
    next_.value = kept_of(next_.key, value);
  } else if (name == "Lease") {  // the last field of each event
    if (steps_.empty() || steps_.back().at != at_) steps_.push_back({at_, {}});
    steps_.back().changes.push_back(std::exchange(next_, {}));
  }
}

std::vector<persistence::log_step> watch_reader::take() {
  return std::exchange(steps_, {});
}

history_witness::history_witness(virtual_switch& network, virtual_switch::port number,
                                 const std::string& endpoints, const std::filesystem::path& folder,
                                 revision first)
    : endpoints_{endpoints},
      pipe_{folder / "history"},
      log_{folder / "history.log"},
      first_{first} {
  network.plug(space_, number);
  if (::mkfifo(pipe_.c_str(), 0600) != 0) throw std::runtime_error{"no pipe for the history"};
  thread_ = std::thread{[this] {
    while (follow()) {
    }
    ended_ = true;
  }};
}

history_witness::~history_witness() {
  stopping_ = true;
  thread_.join();
}

// Runs etcdctl once; it ends when its member ends. Returns false if it must not run again. It
// begins with the last revision again, which may have been read in part.
bool history_witness::follow() {
  const int pipe = ::open(pipe_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  auto command = space_.wrapper();
  command.insert(command.end(),
                 {"sh", "-c",
                  fmt::format("ETCDCTL_API=3 exec etcdctl --endpoints {} watch "
                              "--prefix '' --rev {} --write-out fields >{}",
                              endpoints_, std::max<revision>(at_, first_), pipe_.string())});
  process program{std::move(command), log_};
  watch_reader reader;
  std::string text;
  std::array<char, 64 << 10> part{};
  while (!stopping_) {
    // Without data: the program may not have opened the pipe yet, or may have ended.
    pollfd waiting{pipe, POLLIN, 0};
    if (::poll(&waiting, 1, look_ms) == 0) {
      if (program.wait(0ms)) break;
      continue;
    }
    const auto size = ::read(pipe, part.data(), part.size());
    if (size <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(size));
    std::size_t begin = 0;
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
      reader.read(std::string_view{text}.substr(begin, end - begin));
      begin = end + 1;
    }
    text.erase(0, begin);
    keep(reader.take());
  }
  ::close(pipe);
  program.signal(SIGKILL);
  return !stopping_ && ++runs_ < runs_limit &&
         read_file(log_).find("compacted") == std::string::npos;
}

// etcd 3.4.23 may deliver a revision twice.
void history_witness::keep(std::vector<persistence::log_step> steps) {
  const std::lock_guard lock{mutex_};
  for (auto& step : steps) {
    if (step.at < at_) continue;
    if (step.at > at_) history_.push_back({step.at, {}});
    at_ = step.at;
    auto& kept = history_.back().changes;
    for (auto& each : step.changes) {
      if (std::any_of(kept.begin(), kept.end(),
                      [&](const auto& other) { return other.key == each.key; }))
        continue;
      if (each.key == persistence::leader_key)
        leader_ = each.value ? persistence::read_leader(step.at, *each.value).node : "";
      kept.push_back(std::move(each));
    }
  }
}

std::string history_witness::leader() const {
  const std::lock_guard lock{mutex_};
  return leader_;
}

std::vector<persistence::log_step> history_witness::history() const {
  const std::lock_guard lock{mutex_};
  return history_;
}

}  // namespace troupe::test
