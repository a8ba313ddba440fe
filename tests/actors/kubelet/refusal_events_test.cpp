// Events of containers that cannot be created.
#include "actors/kubelet/pods/refusal_events.hpp"

#include <catch2/catch.hpp>

namespace troupe::test {

namespace {

std::string lines(const std::string& reason) {
  std::string text;
  for (const auto& each : actors::events_of_refusal(reason, "the cause"))
    text += (each.warning ? "Warning " : "Normal ") + each.reason + " " + each.message + "\n";
  return text;
}

}  // namespace

TEST_CASE("a container that is not created has upstream's events, by the reason of its status",
          "[kubelet]") {
  CHECK(lines("ErrImagePull") == "Warning Failed the cause\nWarning Failed Error: ErrImagePull\n");
  CHECK(lines("ImagePullBackOff") ==
        "Normal BackOff the cause\nWarning Failed Error: ImagePullBackOff\n");
  CHECK(lines("ErrImageNeverPull") ==
        "Warning ErrImageNeverPull the cause\nWarning Failed Error: ErrImageNeverPull\n");
  CHECK(lines("InvalidImageName") ==
        "Warning InspectFailed the cause\nWarning Failed Error: InvalidImageName\n");
  CHECK(lines("CreateContainerConfigError") == "Warning Failed Error: the cause\n");
}

}  // namespace troupe::test
