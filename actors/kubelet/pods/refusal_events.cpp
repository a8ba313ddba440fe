#include "actors/kubelet/pods/refusal_events.hpp"

namespace troupe::actors {

std::vector<refusal_event> events_of_refusal(const std::string& reason,
                                             const std::string& message) {
  const refusal_event failed{true, "Failed", "Error: " + reason};
  if (reason == "ErrImagePull") return {{true, "Failed", message}, failed};
  if (reason == "ImagePullBackOff") return {{false, "BackOff", message}, failed};
  if (reason == "ErrImageNeverPull") return {{true, "ErrImageNeverPull", message}, failed};
  if (reason == "InvalidImageName" || reason == "ImageInspectError")
    return {{true, "InspectFailed", message}, failed};
  return {{true, "Failed", "Error: " + message}};
}

}  // namespace troupe::actors
