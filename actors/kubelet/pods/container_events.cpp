#include "actors/kubelet/pods/container_events.hpp"

#include <fmt/format.h>

namespace troupe::actors {

std::string duration_text(std::chrono::milliseconds time) {
  const auto all = time.count();
  if (all > 0 && all < 1'000) return fmt::format("{}ms", all);
  const auto hours = all / 3'600'000, minutes = all / 60'000;
  std::string text;
  if (hours != 0) text = fmt::format("{}h", hours);
  if (minutes != 0) text += fmt::format("{}m", minutes % 60);
  return text + fmt::format("{}s", static_cast<double>(all % 60'000) / 1'000);
}

std::string pulling_text(const std::string& image) {
  return fmt::format("Pulling image \"{}\"", image);
}

std::string pulled_text(const std::string& image, const available_image& found) {
  if (!found.pulled) return fmt::format("Container image \"{}\" already present on machine", image);
  return fmt::format(
      "Successfully pulled image \"{}\" in {} ({} including waiting). Image size: {} bytes.", image,
      duration_text(found.pulled->time), duration_text(found.pulled->with_waiting),
      found.pulled->size_bytes);
}

std::vector<container_event_text> events_of_refusal(const std::string& reason,
                                                    const std::string& message,
                                                    const std::string& image) {
  const container_event_text failed{true, "Failed", "Error: " + reason};
  if (reason == "ErrImagePull")
    return {{true, "Failed", fmt::format("Failed to pull image \"{}\": {}", image, message)},
            failed};
  if (reason == "ImagePullBackOff")
    return {{false, "BackOff", fmt::format("Back-off pulling image \"{}\"", image)}, failed};
  if (reason == "ErrImageNeverPull") return {{true, "ErrImageNeverPull", message}, failed};
  if (reason == "InvalidImageName" || reason == "ImageInspectError")
    return {{true, "InspectFailed", message}, failed};
  return {{true, "Failed", "Error: " + message}};
}

}  // namespace troupe::actors
