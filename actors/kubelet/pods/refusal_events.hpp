// The events of a container that cannot be created, by the reason in its status. Pure.
#pragma once

#include <string>
#include <vector>

namespace troupe::actors {

struct refusal_event {
  bool warning = true;
  std::string reason, message;
};

// kubernetes: images/image_manager.go, kuberuntime_container.go. A problem of the image has an
// event of its own, and every refusal ends with "Failed".
std::vector<refusal_event> events_of_refusal(const std::string& reason, const std::string& message);

}  // namespace troupe::actors
