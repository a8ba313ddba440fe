// A stream source at the control plane for the containers of a joined machine: each stream is
// opened over the node's link (session_streams.hpp) and ends with it.
#pragma once

#include <functional>
#include <string>

#include "actors/kubelet/runtime/streams.hpp"
#include "actors/link/linked_stream.hpp"
#include "actors/link/node_requests.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

// Thread safe; handles may outlive it. Opening is answered within
// `link_defaults::stream_open_wait`, in an actor or on the clock's thread. The error `refused`
// means that the node cannot be asked now: it is not connected, did not answer, or is overloaded.
class node_streams final : public stream_source {
 public:
  // `links` receives open_stream. The system must outlive it.
  node_streams(runtime::actor_system& system, runtime::actor_ref links, std::string node)
      : system_{system}, links_{std::move(links)}, node_{std::move(node)} {}

  void open_exec(const std::string& id, exec_request request,
                 runtime_answer<std::unique_ptr<exec_stream>> done) override;
  void attach(const std::string& id, exec_request request,
              runtime_answer<std::unique_ptr<exec_stream>> done) override;
  void forward_port(const std::string& pod_uid, int port,
                    runtime_answer<std::unique_ptr<port_stream>> done) override;

 private:
  template <class Stream, class Handle>
  void open(stream_target target, runtime_answer<std::unique_ptr<Stream>> done);

  runtime::actor_system& system_;
  const runtime::actor_ref links_;
  const std::string node_;
};

}  // namespace troupe::actors
