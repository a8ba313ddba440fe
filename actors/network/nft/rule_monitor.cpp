#include "actors/network/nft/rule_monitor.hpp"

#include <fmt/format.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "actors/network/defaults.hpp"

namespace troupe::actors::nft {
namespace {

runtime::unique_fd open_events() {
  runtime::unique_fd fd{
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_NETFILTER)};
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  const int group = NFNLGRP_NFTABLES, bytes = network_defaults::rule_events_bytes;
  if (!fd || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0 ||
      ::setsockopt(fd.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0)
    return {};
  return fd;
}

}  // namespace

tl::expected<std::unique_ptr<rule_monitor>, std::string> rule_monitor::start() {
  auto events = open_events();
  runtime::unique_fd ended{events ? ::eventfd(0, EFD_CLOEXEC) : -1};
  if (!ended)
    return tl::make_unexpected(
        fmt::format("changes of nftables cannot be followed: {}", std::strerror(errno)));
  return std::unique_ptr<rule_monitor>{new rule_monitor{std::move(events), std::move(ended)}};
}

rule_monitor::rule_monitor(runtime::unique_fd events, runtime::unique_fd ended)
    : events_{std::move(events)}, ended_{std::move(ended)}, thread_{[this] { loop(); }} {}

rule_monitor::~rule_monitor() {
  ::eventfd_write(ended_.get(), 1);
  thread_.join();
}

void rule_monitor::watch(const std::string& table, std::function<void()> changed) {
  const std::scoped_lock lock{mutex_};
  watched_[table] = std::move(changed);
}

tl::expected<void, std::string> rule_monitor::run(const table_names& written, const script& own) {
  {
    const std::scoped_lock lock{mutex_};
    read();
    report(0, {});
    running_ = true;
  }
  pid_t process = 0;
  auto ran = own(process);
  const std::scoped_lock lock{mutex_};
  read();
  running_ = false;
  report(process, written);
  return ran;
}

void rule_monitor::loop() {
  std::array<pollfd, 2> awaited{{{events_.get(), POLLIN, 0}, {ended_.get(), POLLIN, 0}}};
  for (;;) {
    if (::poll(awaited.data(), awaited.size(), -1) < 0 && errno != EINTR) return;
    if (awaited[1].revents != 0) return;
    const std::scoped_lock lock{mutex_};
    read();
    if (!running_) report(0, {});
  }
}

void rule_monitor::read() {
  std::vector<char> bytes(network_defaults::netlink_read_bytes);
  for (;;) {
    const auto size = ::recv(events_.get(), bytes.data(), bytes.size(), 0);
    if (size > 0) {
      read_removals({bytes.data(), static_cast<std::size_t>(size)}, seen_);
      std::erase_if(seen_, [&](const removal& each) { return !watched_.contains(each.table); });
      if (seen_.size() <= network_defaults::most_removals) continue;
      seen_.clear();
      lost_ = true;
    } else if (size < 0 && errno == ENOBUFS) {
      lost_ = true;
    } else if (size >= 0 || errno != EINTR) {
      return;
    }
  }
}

// Two large tables of ours must not have each other rewritten for ever: losses have a period.
void rule_monitor::report(pid_t own, const table_names& written) {
  std::set<std::string> changed;
  for (const auto& each : std::exchange(seen_, {}))
    if (static_cast<pid_t>(each.sender) != own) changed.insert(each.table);
  const auto now = std::chrono::steady_clock::now();
  const bool lost = std::exchange(lost_, false) && now >= next_loss_;
  if (lost) next_loss_ = now + network_defaults::nft_probe;
  for (const auto& [table, tell] : watched_)
    if ((lost && !written.contains(table)) || changed.contains(table)) tell();
}

}  // namespace troupe::actors::nft
