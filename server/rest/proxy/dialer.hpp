// Opens network connections from this machine, by address or name, to targets other than pods.
// Starts one thread for connections and one for names at the first use. Thread safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/worker_pool.hpp"
#include "server/rest/proxy/backend_connection.hpp"

namespace troupe::actors {
class event_loop;
}

namespace troupe::server {

class dialer {
 public:
  dialer();
  ~dialer();

  // `host`: a literal address or a name. Calls `done` once within `defaults::proxy_connect`, or
  // when the system's resolver gives up.
  void dial(const std::string& host, int port, std::function<void(proxy_target::answer)> done);

 private:
  std::shared_ptr<actors::event_loop> loop();

  std::mutex mutex_;
  std::shared_ptr<actors::event_loop> loop_;       // null until the first use
  std::unique_ptr<runtime::worker_pool> lookups_;  // null until the first use
};

}  // namespace troupe::server
