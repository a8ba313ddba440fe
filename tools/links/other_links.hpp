// Links of a machine to the control planes that its kubelet does not work over. Each may request
// logs, streams into containers, console views and usage over its link, so that any control plane
// answers for pods of any machine (docs/decisions/0071-several-servers.md).
//
// Opens and closes them on a thread of its own, because closing one waits for gRPC.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "actors/link/node_gateway.hpp"
#include "runtime/actor_system.hpp"
#include "runtime/link/link.hpp"
#include "tools/links/server_choice.hpp"

namespace troupe::tools {

struct other_links_options {
  // The machine's answers. Its callbacks for link events are not used.
  actors::gateway_options answers;
  runtime::link::credentials_source credentials;
  // No link to the control plane with that name: it is this machine's own. May be empty.
  std::string except;
};

class other_links {
 public:
  // The system must outlive it.
  other_links(runtime::actor_system& system, std::shared_ptr<server_choice> choice,
              other_links_options options);
  // Closes the links.
  ~other_links();
  other_links(const other_links&) = delete;
  other_links& operator=(const other_links&) = delete;

  // Call after the choice has learned of other control planes. Any thread; returns at once.
  void sync();

 private:
  struct link {
    runtime::actor_ref gateway;
    std::unique_ptr<runtime::link::dialer> dialer;
  };

  void run();
  void sync_links();
  void open(const std::string& name);

  runtime::actor_system& system_;
  const std::shared_ptr<server_choice> choice_;
  const other_links_options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool due_ = false, ending_ = false;
  std::map<std::string, link> links_;  // used by the thread
  std::thread thread_;
};

}  // namespace troupe::tools
