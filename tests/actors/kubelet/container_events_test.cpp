// Events of images, and of containers that cannot be created.
#include "actors/kubelet/pods/container_events.hpp"

#include <catch2/catch.hpp>

namespace troupe::test {

namespace {

std::string lines(const std::string& reason) {
  std::string text;
  for (const auto& each : actors::events_of_refusal(reason, "the cause", "web"))
    text += (each.warning ? "Warning " : "Normal ") + each.reason + " " + each.message + "\n";
  return text;
}

}  // namespace

TEST_CASE("a container that is not created has upstream's events, by the reason of its status",
          "[kubelet]") {
  CHECK(lines("ErrImagePull") ==
        "Warning Failed Failed to pull image \"web\": the cause\n"
        "Warning Failed Error: ErrImagePull\n");
  CHECK(lines("ImagePullBackOff") ==
        "Normal BackOff Back-off pulling image \"web\"\nWarning Failed Error: ImagePullBackOff\n");
  CHECK(lines("ErrImageNeverPull") ==
        "Warning ErrImageNeverPull the cause\nWarning Failed Error: ErrImageNeverPull\n");
  CHECK(lines("InvalidImageName") ==
        "Warning InspectFailed the cause\nWarning Failed Error: InvalidImageName\n");
  CHECK(lines("CreateContainerConfigError") == "Warning Failed Error: the cause\n");
}

TEST_CASE("an image has upstream's events, with the time of its pull as Go prints it",
          "[kubelet]") {
  using namespace std::chrono_literals;
  CHECK(actors::duration_text(80s) == "1m20s");
  CHECK(actors::duration_text(5min) == "5m0s");
  CHECK(actors::pulling_text("web:1") == "Pulling image \"web:1\"");
  CHECK(actors::pulled_text("web:1", {"sha256:0"}) ==
        "Container image \"web:1\" already present on machine");
  CHECK(actors::pulled_text("web:1", {"sha256:0", {{1200ms, 62'500ms, 129'338'587}}}) ==
        "Successfully pulled image \"web:1\" in 1.2s (1m2.5s including waiting). "
        "Image size: 129338587 bytes.");
  CHECK(
      actors::pulled_text("w", {"sha256:0", {{250ms, 3'600'000ms, 1}}}) ==
      "Successfully pulled image \"w\" in 250ms (1h0m0s including waiting). Image size: 1 bytes.");
  CHECK(actors::pulled_text("w", {"sha256:0", {{0ms, 15'981ms, 1}}}) ==
        "Successfully pulled image \"w\" in 0s (15.981s including waiting). Image size: 1 bytes.");
}

}  // namespace troupe::test
