// The interface of a container runtime: it runs the containers of a machine's pods, in the terms of
// upstream's CRI: sandboxes, containers, images, streams. The kubelet uses its runtime only through
// this interface (docs/decisions/0024-runtimes.md).
//
// Thread safe. No call blocks. Callbacks and observers run on a thread of the runtime or, if
// there is nothing to wait for, within the call: they must only send a message to an actor. Each
// call is answered once, with an error value if it failed, within a time limit of the runtime;
// none is answered after the runtime is destroyed. Calls about one pod take effect in their
// order.
//
// Containers outlive this process: the next process finds them by `list`.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/runtime/container_types.hpp"
#include "actors/kubelet/runtime/streams.hpp"
#include "actors/kubelet/runtime/usage.hpp"
#include "api/schema/core_pod.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

struct stored_image {
  std::vector<std::string> names;  // with tags and with digests
  std::int64_t size_bytes = 0;
};

// An image from which containers can be created.
struct available_image {
  struct pull {
    std::chrono::milliseconds time, with_waiting;  // in the queue of pulls
    std::int64_t size_bytes = 0;                   // of the image; 0: unknown
  };

  // For `create_container` and the pod's status; empty: the runtime takes no images.
  std::string ref;
  std::optional<pull> pulled = {};  // absent: it was present
};

using sandbox_observer = std::function<void(const sandbox_change&)>;
using container_observer = std::function<void(const container_change&)>;
using problem_observer = std::function<void(std::string problem)>;

class container_runtime : public log_source, public stream_source, public usage_source {
 public:
  // `version` is known later if the runtime did not answer at start.
  virtual runtime_features features() const = 0;
  // Whether it can give containers the groups of supplementalGroupsPolicy Strict.
  virtual bool has_strict_groups() const { return false; }
  // Why it can run no pod now, for the message of the node's condition Ready; empty: it can.
  virtual std::string problem() const { return {}; }
  // Why pods with a network of their own cannot start now; empty: they can.
  virtual std::string network_problem() const { return {}; }
  // Paths of the pod's fields that the runtime does not support, with the effect of each where it
  // is not obvious. Pure.
  virtual std::vector<std::string> unsupported_fields(const api::core::v1::Pod& pod) const = 0;

  // Why it cannot change cpu and memory of running containers; empty: it can. Constant for the
  // lifetime of the runtime.
  virtual std::string resize_problem() const { return "the runtime does not resize containers"; }

  // -- pods ---------------------------------------------------------------------------------------

  // Uids of all pods with a sandbox, container or file.
  virtual void list_pods(std::function<void(std::vector<std::string>)> done) = 0;
  // Answers once the pod's sandbox and containers are known: one not listed does not exist.
  virtual void list(const std::string& pod_uid, std::function<void(found_pod)> done) = 0;
  // Creates a sandbox in place of one that is not ready. The observer is notified when it is ready
  // and later when it is lost; or only of the loss.
  virtual void run_sandbox(sandbox_config config, sandbox_observer observer) = 0;
  // Notifies the observer in the same way of an existing sandbox.
  virtual void follow_sandbox(const std::string& id, sandbox_observer observer) = 0;
  // Ends the sandboxes of a pod whose containers have ended for good, so that its address is free;
  // containers and logs stay. Idempotent, repeated until it succeeds.
  virtual void stop_sandboxes(const std::string&) {}
  // Removes sandboxes, containers and logs of a pod; its containers have ended or are killed.
  // Idempotent. A pod that could not be removed completely is in the next `list_pods`; `done`
  // receives the first problem, empty if there was none.
  virtual void remove_pod(const std::string& pod_uid, problem_observer done) = 0;

  // Limits the resources of all pods together, if the machine has control groups (kubernetes:
  // --enforce-node-allocatable=pods). Failures are logged.
  virtual void limit_pods(const pods_limits&) {}
  // Sets the shares of processors of the QoS classes, if each has a control group: all Burstable
  // pods together get what they request, all BestEffort pods the least (kubernetes:
  // cm/qos_container_manager_linux.go). Failures are logged.
  virtual void share_cpu(std::int64_t /*burstable_milli_cpu*/) {}

  // -- containers ---------------------------------------------------------------------------------

  // Answers with the id. Removes attempts older than the previous one, with their logs.
  virtual void create_container(container_config config, runtime_answer<std::string> done) = 0;
  // Notifies the observer when the container runs and when it ended; only of the end, with an
  // error, if it could not be started.
  virtual void start_container(const std::string& id, container_observer observer) = 0;
  // Notifies the observer of the current state and later changes of an existing container.
  virtual void follow_container(const std::string& id, container_observer observer) = 0;
  // Stops the container with its image's stop signal or SIGTERM; without grace it is killed. A
  // runtime may kill it itself after the grace period: a caller that needs it gone calls again,
  // possibly with a shorter grace. No effect on an ended container. `failed` is called only if the
  // runtime could not stop it.
  virtual void stop_container(const std::string& id, runtime::duration grace,
                              problem_observer failed) = 0;
  // Applies other resources: first increases of the pod's control group, then the containers, then
  // decreases of the group. Answers with the first error; the steps before it stay applied.
  // Idempotent.
  virtual void resize(resize_request request, runtime_answer<void> done) {
    done(tl::make_unexpected(runtime_error{runtime_error::kind::unsupported, resize_problem()}));
    static_cast<void>(request);
  }
  // The container must not be running.
  virtual void remove_container(const std::string& id) = 0;
  // Runs a command in the container and waits for its end: for probes and hooks. An error says why
  // the command could not be run; a container that does not run may also give code 126 and output.
  virtual void run_command(const std::string& id, std::vector<std::string> command,
                           runtime::duration timeout, runtime_answer<command_result> done) = 0;

  // -- images -------------------------------------------------------------------------------------

  // The machine's images as they were last listed, the largest first, with limited names and
  // number.
  virtual std::vector<stored_image> images() const { return {}; }
  // Why the disk of the images is too full although unused ones were removed; empty: it is not.
  virtual std::string image_problem() const { return {}; }
  // The directory with the images and the writable layers of containers; empty: none, or unknown.
  virtual std::filesystem::path image_directory() const { return {}; }
  // Removes all unused images if they are on the given disk: that of the kubelet's directory, or
  // that of the images, if it is another one. Answers when that has ended, whatever it has freed.
  virtual void free_disk(node_disk, std::function<void()> done) { done(); }
  // Makes the image of a container available as its pull policy says (kubernetes:
  // EnsureImageExists, with its back-off). Errors are `refused`, with upstream's reasons and
  // messages (ErrImagePull, ImagePullBackOff, ErrImageNeverPull …). Calls `pulling` before if it
  // must be pulled.
  virtual void pull_image(image_request request, std::function<void()> pulling,
                          runtime_answer<available_image> done) = 0;
};

}  // namespace troupe::actors
