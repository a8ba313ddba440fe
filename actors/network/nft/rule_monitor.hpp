// Hears from the kernel when another program takes something away from a table of ours: it is put
// back at once, and nobody has to look for it (docs/decisions/0056-rules-that-others-remove.md).
//
// A thread of its own waits for the kernel. Scripts of ours remove things as well: they run by
// `run`, and what their process did is no news. When more has happened than the kernel keeps for
// us, all tables count as changed, unless a script of ours ran, which may have been all of it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tl/expected.hpp>

#include "actors/network/nft/rule_events.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors::nft {

class rule_monitor {
 public:
  // Of the network namespace of the thread that calls. The error says what the kernel refused.
  static tl::expected<std::unique_ptr<rule_monitor>, std::string> start();
  ~rule_monitor();
  rule_monitor(const rule_monitor&) = delete;
  rule_monitor& operator=(const rule_monitor&) = delete;

  // `changed` is called on a thread of the monitor or of `run`, and does not call it.
  void watch(const std::string& table, std::function<void()> changed);

  // Runs a script of ours, which says its process. One at a time; blocks: for a worker thread.
  using script = std::function<tl::expected<void, std::string>(pid_t& process)>;
  tl::expected<void, std::string> run(const script& own);

 private:
  rule_monitor(runtime::unique_fd events, runtime::unique_fd ended);
  void loop();
  // With the lock.
  void read();
  void report(pid_t own);

  const runtime::unique_fd events_, ended_;
  std::mutex mutex_;
  std::map<std::string, std::function<void()>> watched_;
  removals seen_;
  bool running_ = false, lost_ = false;
  std::thread thread_;
};

}  // namespace troupe::actors::nft
