// The events of a container's image, and of a container that cannot be created. Pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "actors/kubelet/runtime/container_runtime.hpp"

namespace troupe::actors {

struct container_event_text {
  bool warning = true;
  std::string reason, message;
};

// As Go prints a duration: "250ms", "15.981s", "1m2.5s".
std::string duration_text(std::chrono::milliseconds time);

// kubernetes: images/image_manager.go. `image` is the name in the spec.
std::string pulling_text(const std::string& image);
std::string pulled_text(const std::string& image, const available_image& found);

// By the reason and the message of the container's status. A problem of the image has an event of
// its own, and every refusal ends with "Failed" (kubernetes: kuberuntime_container.go).
std::vector<container_event_text> events_of_refusal(const std::string& reason,
                                                    const std::string& message,
                                                    const std::string& image);

}  // namespace troupe::actors
