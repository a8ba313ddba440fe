// pods/NAME/log: a container's output, at once or as it comes.
#pragma once

#include <memory>

#include "actors/link/node_requests.hpp"
#include "runtime/actor.hpp"
#include "runtime/worker_pool.hpp"
#include "server/rest/calls/call.hpp"

namespace troupe::server {

// kubernetes: pkg/registry/core/pod/strategy.go, LogLocation, for the rules and the words.
void get_log(const call_ptr& call);

// Whether the run that the log is of is over: its container has ended or runs again, or its pod has
// gone, though there may be another of its name.
bool run_ended(const call& call, const actors::open_log& log);

// One reader of one log: an actor between the file, which is read on a thread for disks, and the
// client's stream. One part is under way at a time; a client that reads slowly costs that much.
// Ends with the run that it is of, or when the client leaves.
class log_session : public runtime::actor {
 public:
  log_session(call_ptr call, std::string file, actors::open_log log);
  ~log_session() override;

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct part {
    std::string text;
    bool ended = false;  // the run had ended before the part was read
  };
  struct room {};
  struct client_gone {};

  void on_part(const part& m);
  void on_room(const room&);
  void on_client_gone(const client_gone&);
  void read();

  const call_ptr call_;
  const std::string file_;
  const actors::open_log log_;
  std::shared_ptr<actors::log_reader> reader_;
  stream out_;
  bool full_ = false;
  runtime::timer again_;
};

}  // namespace troupe::server
