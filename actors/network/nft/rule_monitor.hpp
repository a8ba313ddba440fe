// Reports when another program removes something from one of our nftables tables, so that the
// table's owner can restore it without polling (docs/decisions/0056-rules-that-others-remove.md).
//
// Its own thread waits for kernel messages. Our own scripts remove rules too: they run through
// `run`, and the monitor ignores removals by their process. If messages are lost, all tables count
// as changed, except those that a script of ours was writing.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tl/expected.hpp>

#include "actors/network/nft/rule_events.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors::nft {

using table_names = std::set<std::string>;  // "ip troupe"

class rule_monitor {
 public:
  // Monitors the network namespace of the calling thread. The error is the kernel's.
  static tl::expected<std::unique_ptr<rule_monitor>, std::string> start();
  ~rule_monitor();
  rule_monitor(const rule_monitor&) = delete;
  rule_monitor& operator=(const rule_monitor&) = delete;

  // Calls `changed` on the monitor's thread or on that of `run`; it must not call the monitor.
  void watch(const std::string& table, std::function<void()> changed);

  // Runs our script, which writes these tables and sets the id of its process. One at a time;
  // blocks: for a worker thread.
  using script = std::function<tl::expected<void, std::string>(pid_t& process)>;
  tl::expected<void, std::string> run(const table_names& written, const script& own);

 private:
  rule_monitor(runtime::unique_fd events, runtime::unique_fd ended);
  void loop();
  // Require the lock.
  void read();
  void report(pid_t own, const table_names& written);

  const runtime::unique_fd events_, ended_;
  std::mutex mutex_;
  std::map<std::string, std::function<void()>> watched_;
  removals seen_;
  bool running_ = false, lost_ = false;
  std::chrono::steady_clock::time_point next_loss_;
  std::thread thread_;
};

}  // namespace troupe::actors::nft
