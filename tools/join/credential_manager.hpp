// Holds the credentials of a joined node and renews its certificate before it expires. It logs a
// refusal and retries with back-off, and does the same for a new certificate that is already due
// for renewal by this machine's clock. The link, not this class, reports that the node was removed.
// Thread safe; requests and waits happen on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "tools/join/credentials.hpp"

namespace troupe::tools {

class credential_manager {
 public:
  credential_manager(join_folder folder, joined_credentials held);
  credential_manager(const credential_manager&) = delete;
  credential_manager& operator=(const credential_manager&) = delete;
  ~credential_manager();

  joined_credentials now() const;
  // Stores them with the credentials. Returns at once.
  void learn(const std::string& control_planes);

 private:
  void keep();
  // Sends one request; false: retry after a pause.
  bool renew_once();
  void save_learned(std::unique_lock<std::mutex>& lock);

  const join_folder folder_;
  const double jitter_;  // 0 to 1
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  bool learned_ = false;  // and not saved yet
  bool unsaved_ = false;  // saving has failed: tried again when the thread wakes
  joined_credentials held_;
  std::thread thread_;
};

// Time from `now` until the certificate must be renewed; zero if it is due.
std::chrono::milliseconds until_renewal(const std::string& certificate, double jitter,
                                        std::chrono::system_clock::time_point now);

}  // namespace troupe::tools
