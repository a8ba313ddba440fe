// What the kubelet and a container runtime tell each other (container_runtime.hpp): values only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "api/object/object.hpp"

namespace troupe::api::core::v1 {
class Container;
}

namespace troupe::actors {

// Why a runtime has not done what it was asked for.
struct runtime_error {
  enum class kind : std::uint8_t {
    refused,      // for now: the container waits under `reason`, and it is tried again
    failed,       // the attempt counts as one that failed
    not_found,    // there is no such sandbox, container or log
    unsupported,  // this runtime never does it
  };
  kind code = kind::failed;
  std::string message;      // for the user
  std::string reason = {};  // of the container's waiting state, as CreateContainerConfigError
};

template <class T>
using runtime_result = tl::expected<T, runtime_error>;
template <class T>
using runtime_answer = std::function<void(runtime_result<T>)>;

struct sandbox_config {
  api::object_ptr pod;
  std::string handler = {};  // of its RuntimeClass; empty: the runtime's default
};

// The environment that the containers of a pod share: they end with it. Another id is another
// environment: what init containers did in the former one is gone.
struct sandbox_status {
  std::string id;
  std::string ip = {};  // empty: that of the node
};

struct sandbox_lost {
  runtime_error error;
};
// It is ready, or it could not be made or has gone.
using sandbox_change = std::variant<sandbox_status, sandbox_lost>;

struct container_mount {
  std::string source;    // on this machine
  std::string sub_path;  // followed as long as it stays below `source`
  std::string target;    // in the container
  bool read_only = false;
  bool own = true;  // the kubelet's own directory; false: a hostPath
};

// One attempt of a container. References and variables are resolved; what else the pod says of it
// (resources, security context) the runtime reads in `spec`.
struct container_config {
  api::object_ptr pod;
  // An ephemeral container too, whose fields are a Container's.
  std::shared_ptr<const api::core::v1::Container> spec = {};
  int attempt = 0;
  std::string sandbox;         // its id
  std::string target = {};     // the id of the container whose processes it sees; empty: its own
  std::string image_ref = {};  // as `pull_image` answered
  std::vector<std::string> command = {};  // empty: that of the image
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};  // "NAME=value"
  std::vector<container_mount> mounts = {};   // in the order of the spec
};

// Times are in milliseconds since the epoch, by the wall clock.
struct container_running {
  std::int64_t since_ms = 0;
};

struct container_exit {
  int code = 0;  // as the kubelet reports it: 128 + signal for a signal
  int signal = 0;
  std::int64_t started_ms = 0, finished_ms = 0;
  std::string error = {};  // why it could not be started, or was lost; empty otherwise
  bool out_of_memory = false;
  std::string message = {};  // that it left: its termination message
  bool lost = false;         // nobody saw its end: `finished_ms` is when that was found
};

// A container runs, or has ended.
using container_change = std::variant<container_running, container_exit>;

// The newest attempt of a container that the runtime has. Ids are as a pod's status has them:
// NAME-OF-RUNTIME://ID.
struct found_container {
  std::string id;
  std::string name;
  int attempt = 0;
  std::string sandbox = {};  // the id of its sandbox; empty: not known
  std::string image = {};    // as in the spec that it was made from; empty: not known
  std::string image_ref = {};
  bool started = true;                        // false: made, and never started
  std::optional<container_exit> before = {};  // how the attempt before it ended
  std::string before_id = {};
};

struct found_pod {
  std::optional<sandbox_status> sandbox = {};  // one that containers may be started in
  std::vector<found_container> containers = {};
};

// Other amounts of cpu and memory for what runs of a pod. Both pods differ in their containers'
// resources alone.
struct resize_request {
  api::object_ptr pod;     // with the resources that are to be in force
  api::object_ptr before;  // with those that its control group was given; null: not known
  struct container {
    std::string id, name;
  };
  std::vector<container> containers = {};  // that get others than they have
};

struct command_result {
  int code = 0;            // 128 + signal for a signal; 126 and 127 when it could not be run
  std::string output;      // both streams, the first `kubelet_defaults::check_output_bytes`
  bool timed_out = false;  // it was killed then
};

struct image_request {
  api::object_ptr pod;
  std::shared_ptr<const api::core::v1::Container> spec = {};  // image, pull policy
  std::vector<api::object_ptr> secrets = {};  // those of `imagePullSecrets` that there are
};

// What all pods of the machine may use together: what is not reserved.
struct pods_limits {
  std::int64_t milli_cpu = 0;     // their share where processors are wanted by others too
  std::int64_t memory_bytes = 0;  // 0: no limit
};

// What a runtime is and can do; does not change while it lives.
struct runtime_features {
  std::string name;     // "process"
  std::string version;  // "process://1": status.nodeInfo.containerRuntimeVersion
  // False: containers find their volumes by the environment (volume_variable).
  bool mounts_volumes = true;
  // A pod has an address of its own, which its sandbox tells, unless it shares the node's network.
  bool own_network = false;
  bool ephemeral_containers = false;
};

}  // namespace troupe::actors
