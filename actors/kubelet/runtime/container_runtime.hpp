// What runs the containers of a machine's pods, in the terms of upstream's container runtime
// interface: sandboxes, containers, images, streams. The kubelet knows its runtime by this alone
// (docs/decisions/0024-runtimes.md).
//
// Thread safe. No call blocks; an answer, and what an observer is told, comes on a thread of the
// runtime or, where nothing has to be waited for, within the call: whoever is asked there only
// sends a message to an actor. Each call is answered once, with an error value where it failed and
// within a time that the runtime sets; none is answered after the runtime is destroyed. Calls about
// one pod take effect in their order.
//
// The runtime keeps what it runs beyond the life of this program: the next one finds it by `list`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/kubelet/runtime/container_types.hpp"
#include "actors/kubelet/runtime/streams.hpp"
#include "actors/kubelet/runtime/usage.hpp"
#include "api/schema/core_pod.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

using sandbox_observer = std::function<void(const sandbox_change&)>;
using container_observer = std::function<void(const container_change&)>;

class container_runtime : public log_source, public stream_source, public usage_source {
 public:
  virtual const runtime_features& features() const noexcept = 0;
  // Why it can run no pod now, as the node's condition Ready says it; empty: it can.
  virtual std::string problem() const { return {}; }
  // Paths of the fields of a pod that it does not honour, with what becomes of them where that is
  // not plain. Pure.
  virtual std::vector<std::string> unsupported_fields(const api::core::v1::Pod& pod) const = 0;

  // Why it cannot give running containers other amounts of cpu and memory; empty: it can. Does not
  // change while it lives.
  virtual std::string resize_problem() const { return "the runtime does not resize containers"; }

  // -- pods ---------------------------------------------------------------------------------------

  // Uids of all pods of which there is anything.
  virtual void list_pods(std::function<void(std::vector<std::string>)> done) = 0;
  // What there is of a pod. Asks until it is known: an absent container has been seen to be absent.
  virtual void list(const std::string& pod_uid, std::function<void(found_pod)> done) = 0;
  // Makes a sandbox in place of one that is not ready. The observer is told that it is ready, and
  // later that it has gone; or only the latter.
  virtual void run_sandbox(sandbox_config config, sandbox_observer observer) = 0;
  // The same for a sandbox that was found.
  virtual void follow_sandbox(const std::string& id, sandbox_observer observer) = 0;
  // Removes sandboxes, containers and logs of a pod; its containers have ended, or are killed. May
  // be repeated. What cannot be removed is in the next `list_pods`.
  virtual void remove_pod(const std::string& pod_uid, std::function<void()> done) = 0;

  // Limits all pods together, where the machine has control groups (kubernetes:
  // --enforce-node-allocatable=pods). What cannot be set goes to the log.
  virtual void limit_pods(const pods_limits&) {}

  // -- containers ---------------------------------------------------------------------------------

  // Answers with the id. Older attempts than the one before are removed, with their logs.
  virtual void create_container(container_config config, runtime_answer<std::string> done) = 0;
  // The observer is told when it runs and when it ended; only the latter, with the error, when it
  // could not be started.
  virtual void start_container(const std::string& id, container_observer observer) = 0;
  // The same for a container that was found: what it is now, and what it becomes.
  virtual void follow_container(const std::string& id, container_observer observer) = 0;
  // Asks it to end, as its image or SIGTERM does; without grace all of it is killed. A runtime may
  // kill it by itself when the grace is over: whoever wants it gone asks again, and may give less
  // time than before. Nothing happens to one that has ended.
  virtual void stop_container(const std::string& id, runtime::duration grace) = 0;
  // Puts other resources into force: of the pod's control group what grows, then of the containers,
  // then of the group what shrinks. The error is the first; what was done before it stays. May be
  // repeated.
  virtual void resize(resize_request request, runtime_answer<void> done) {
    done(tl::make_unexpected(runtime_error{runtime_error::kind::unsupported, resize_problem()}));
    static_cast<void>(request);
  }
  // One that does not run.
  virtual void remove_container(const std::string& id) = 0;
  // Runs a command in it and waits for its end: for probes and hooks. The error is why it could not
  // be tried; that the container does not run may also be said by code 126 and the output.
  virtual void run_command(const std::string& id, std::vector<std::string> command,
                           runtime::duration timeout, runtime_answer<command_result> done) = 0;

  // -- images -------------------------------------------------------------------------------------

  // Has the image of a container ready, as its pull policy says (kubernetes: EnsureImageExists,
  // with its back-off). Answers with what `create_container` and the pod's status name it by.
  // Errors are `refused`, with upstream's reasons (ErrImagePull, ImagePullBackOff,
  // ErrImageNeverPull …).
  virtual void pull_image(image_request request, runtime_answer<std::string> done) = 0;
};

}  // namespace troupe::actors
