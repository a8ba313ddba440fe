// Connections over the network of this machine, by address or by name: for what is no pod. Has a
// thread for connections and one for names, from the first one on. Thread safe.
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

  // `host`: an address in numbers, or a name. Answered once within `defaults::proxy_connect`, or
  // as soon as the system gives up a name.
  void dial(const std::string& host, int port, std::function<void(proxy_target::answer)> done);

 private:
  std::shared_ptr<actors::event_loop> loop();

  std::mutex mutex_;
  std::shared_ptr<actors::event_loop> loop_;       // null: not yet needed
  std::unique_ptr<runtime::worker_pool> lookups_;  // the same
};

}  // namespace troupe::server
