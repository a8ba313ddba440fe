// Holds the credentials of a joined node and renews its certificate before it ends, for as long as
// it lives. A refusal is logged and retried with back-off, and so is a new certificate that is
// old already by this machine's clock. That the node was removed is reported by its link.
// Thread safe; a thread of its own asks and waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "tools/join/credentials.hpp"

namespace troupe::tools {

class credential_keeper {
 public:
  credential_keeper(join_folder folder, joined_credentials held);
  credential_keeper(const credential_keeper&) = delete;
  credential_keeper& operator=(const credential_keeper&) = delete;
  ~credential_keeper();

  joined_credentials now() const;
  // Is kept with them. Returns at once.
  void learn(const std::string& control_planes);

 private:
  void keep();
  // Asks once; false: try again after a pause.
  bool renew_once();
  void save_learned(std::unique_lock<std::mutex>& lock);

  const join_folder folder_;
  const double jitter_;  // 0 to 1
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  bool learned_ = false;  // and not saved yet
  joined_credentials held_;
  std::thread keeper_;
};

// How long from `now` until the certificate is to be renewed; zero when it is time.
std::chrono::milliseconds until_renewal(const std::string& certificate, double jitter,
                                        std::chrono::system_clock::time_point now);

}  // namespace troupe::tools
