// Requests and results of a container runtime (container_runtime.hpp): plain values.
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

// Why a runtime could not do a request.
struct runtime_error {
  enum class kind : std::uint8_t {
    refused,      // temporary: the container waits under `reason` and is retried
    failed,       // counts as a failed attempt
    not_found,    // there is no such sandbox, container or log
    unsupported,  // this runtime does not support it
  };
  kind code = kind::failed;
  std::string message;      // for the user
  std::string reason = {};  // of the waiting state, e.g. CreateContainerConfigError
};

template <class T>
using runtime_result = tl::expected<T, runtime_error>;
template <class T>
using runtime_answer = std::function<void(runtime_result<T>)>;

struct sandbox_config {
  api::object_ptr pod;
  std::string handler = {};  // of the RuntimeClass; empty: the runtime's default
};

// The environment that the containers of a pod share; they end with it. Another id means another
// sandbox: the results of init containers in the former one are lost.
struct sandbox_status {
  std::string id;
  std::vector<std::string> ips = {};  // of any order; empty: the node's address
};

struct sandbox_lost {
  runtime_error error;
};
// The sandbox is ready, or it could not be created or is lost.
using sandbox_change = std::variant<sandbox_status, sandbox_lost>;

struct container_mount {
  std::string source;    // on this machine
  std::string sub_path;  // resolved, but never to a path outside `source`
  std::string target;    // in the container
  bool read_only = false;
  bool own = true;  // the kubelet's own directory; false: a hostPath
};

struct container_device {
  std::string source;  // a block device of this machine, or a link to it
  std::string target;  // in the container
  bool read_only = false;
};

// One attempt of a container. References and variables are resolved; the runtime reads all else
// (resources, security context) from `spec`.
struct container_config {
  api::object_ptr pod;
  // For an ephemeral container too, converted to a Container.
  std::shared_ptr<const api::core::v1::Container> spec = {};
  int attempt = 0;
  std::string sandbox;         // its id
  std::string target = {};     // id of the container whose processes it shares; empty: none
  std::string image_ref = {};  // the answer of `pull_image`
  std::vector<std::string> command = {};  // empty: the image's command
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};  // "NAME=value"
  std::vector<container_mount> mounts = {};   // in the order of the spec
  std::vector<container_device> devices = {};
};

// Times are in milliseconds since the epoch, by the wall clock.
struct container_running {
  std::int64_t since_ms = 0;
};

struct container_exit {
  int code = 0;  // as the kubelet reports it: 128 + signal if killed by a signal
  int signal = 0;
  std::int64_t started_ms = 0, finished_ms = 0;
  std::string error = {};  // why it could not be started or was lost; else empty
  bool out_of_memory = false;
  std::string message = {};  // its termination message
  bool lost = false;         // its end was not observed: `finished_ms` is when that was noticed
};

// The container runs, or has ended.
using container_change = std::variant<container_running, container_exit>;

// The newest attempt of a container that the runtime has. Ids are as in a pod's status:
// RUNTIME://ID.
struct found_container {
  std::string id;
  std::string name;
  int attempt = 0;
  std::string sandbox = {};  // empty: unknown
  std::string image = {};    // as in the spec it was created from; empty: unknown
  std::string image_ref = {};
  bool started = true;                        // false: created, but never started
  std::optional<container_exit> before = {};  // how the previous attempt ended
  std::string before_id = {};
};

struct found_pod {
  std::optional<sandbox_status> sandbox = {};  // one in which containers can be started
  std::vector<found_container> containers = {};
};

// New amounts of cpu and memory for a running pod. Both pods differ only in their containers'
// resources.
struct resize_request {
  api::object_ptr pod;     // with the resources to apply
  api::object_ptr before;  // with those last applied to its control group; null: unknown
  struct container {
    std::string id, name;
  };
  std::vector<container> containers = {};  // containers whose resources change
};

struct command_result {
  int code = 0;            // 128 + signal for a signal; 126 and 127 if it could not be run
  std::string output;      // both streams, the first `kubelet_defaults::check_output_bytes`
  bool timed_out = false;  // it was killed after the timeout
};

struct image_request {
  api::object_ptr pod;
  std::shared_ptr<const api::core::v1::Container> spec = {};  // image, pull policy
  std::vector<api::object_ptr> secrets = {};  // existing secrets of `imagePullSecrets`
};

// Resources that all pods of the machine together may use: the rest is reserved.
struct pods_limits {
  std::int64_t milli_cpu = 0;     // relative share when processors are contended
  std::int64_t memory_bytes = 0;  // 0: no limit
};

// Properties of a runtime; constant for its lifetime.
struct runtime_features {
  std::string name;     // "process"
  std::string version;  // "process://1": status.nodeInfo.containerRuntimeVersion
  // False: containers find their volumes by environment variables (volume_variable).
  bool mounts_volumes = true;
  // A pod has its own address, reported by its sandbox, unless it uses the node's network.
  bool own_network = false;
  bool ephemeral_containers = false;
};

}  // namespace troupe::actors
