// Notices that the files of a client's credentials were replaced, and tries the new ones out.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "persistence/etcd/client/credentials.hpp"

namespace troupe::persistence::etcd {

// Reads the files in each `reload_period`, on a thread of its own: a slow disk must not delay the
// renewal of a lease. Those that differ from the ones in use are given to `use`; if that fails, and
// if they cannot be read or do not match, as when half of them is written, they are tried again in
// the next period. The log has a line when they are in use, at most one in an hour about the same
// files that cannot be used, and one a day in the last fifth of the life of the certificate in use.
class credential_watch {
 public:
  // Starts to use the credentials if a member of etcd accepts them. Returns soon after `stop`.
  using use_function = std::function<expected<void>(const credentials&, const std::stop_token&)>;

  // `used`: those that are in use now.
  credential_watch(const etcd_options& options, credentials used, use_function use);

 private:
  using clock = std::chrono::steady_clock;

  void run(const std::stop_token& stop);
  void look(const std::stop_token& stop);
  expected<void> try_out(const expected<credentials>& found, const std::stop_token& stop) const;
  void warn(credentials refused, const error& reason);
  void warn_of_end();

  const etcd_options options_;
  const std::string files_;  // their names, for the log
  const use_function use_;
  // State of the thread.
  credentials used_;
  std::optional<credentials> refused_;  // of the last warning
  clock::time_point next_warning_, next_end_warning_;
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread thread_;  // last: it ends first
};

}  // namespace troupe::persistence::etcd
