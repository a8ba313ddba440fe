#include "system/planes/history_witness.hpp"

#include <sys/stat.h>

#include <charconv>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "persistence/replica/log_record.hpp"

namespace troupe::test {

namespace {

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string kept_of(std::string_view key, std::string_view value) {
  if (key.starts_with(persistence::own_prefix)) return std::string{value};
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
  } else if (name == "Lease") {  // the last of each
    if (steps_.empty() || steps_.back().at != at_) steps_.push_back({at_, {}});
    steps_.back().changes.push_back(std::exchange(next_, {}));
  }
}

std::vector<persistence::log_step> watch_reader::take() {
  return std::exchange(steps_, {});
}

history_witness::history_witness(virtual_switch& network, virtual_switch::port number,
                                 const std::string& endpoints, const std::filesystem::path& folder)
    : pipe_{folder / "history"} {
  network.plug(space_, number);
  if (::mkfifo(pipe_.c_str(), 0600) != 0) throw std::runtime_error{"no pipe for the history"};
  auto command = space_.wrapper();
  command.insert(command.end(),
                 {"sh", "-c",
                  "ETCDCTL_API=3 exec etcdctl --endpoints " + endpoints +
                      " watch --prefix '' --rev 1 --write-out fields >" + pipe_.string()});
  process_ = std::make_unique<process>(std::move(command), folder / "history.log");
  thread_ = std::thread{[this] { watch(); }};
}

history_witness::~history_witness() {
  process_->signal(SIGKILL);
  thread_.join();
}

void history_witness::watch() {
  watch_reader reader;
  std::ifstream lines{pipe_};
  for (std::string line; std::getline(lines, line);) {
    reader.read(line);
    const std::lock_guard lock{mutex_};
    for (auto& step : reader.take()) {
      for (const auto& each : step.changes)
        if (each.key == persistence::leader_key)
          leader_ = each.value ? persistence::read_leader(step.at, *each.value).node : "";
      at_ = step.at;
      if (!history_.empty() && history_.back().at == step.at)
        std::move(step.changes.begin(), step.changes.end(),
                  std::back_inserter(history_.back().changes));
      else
        history_.push_back(std::move(step));
    }
  }
  ended_ = true;
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
