// Where the logs of containers are: the kubelet's files on this machine.
#pragma once

#include <optional>
#include <string>

namespace troupe::server {

class log_source {
 public:
  virtual ~log_source() = default;
  // The log file of an attempt of a pod's container; nothing when this machine has no such log.
  virtual std::optional<std::string> log_file(const std::string& pod_uid,
                                              const std::string& container, int attempt) const = 0;
};

}  // namespace troupe::server
