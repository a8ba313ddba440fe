// Validation of the raw devices of containers.
#include <catch2/catch.hpp>

#include "api/manifests.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/validation/validation.hpp"

using namespace troupe;
using namespace troupe::api;

namespace {

using device_lines = std::vector<std::string>;

// The errors of a pod whose container has these members besides name and image.
device_lines device_faults(const std::string& members) {
  const auto pod = test::created<core::v1::Pod>(
      "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {volumes: [{name: v, "
      "persistentVolumeClaim: {claimName: d}}, {name: e, emptyDir: {}}], containers: [{name: c, "
      "image: x, " +
      members + "}]}}");
  device_lines found;
  for (const auto& cause : validate_create(kind_of<core::v1::Pod>(), pod))
    found.push_back(cause.field + ": " + cause.message);
  return found;
}

}  // namespace

TEST_CASE("raw devices are claims of the pod, at paths of their own") {
  const std::string at = "spec.containers[0].";
  CHECK(device_faults("volumeDevices: [{name: v, devicePath: /dev/v}]").empty());
  CHECK(device_faults("volumeDevices: [{name: v}, {name: v, devicePath: /dev/../v}, "
                      "{name: e, devicePath: /dev/e}, {name: w, devicePath: /dev/w}]") ==
        device_lines{
            at + "volumeDevices[0].devicePath: Required value",
            at + "volumeDevices[1].name: Invalid value: \"v\": must be unique",
            at + "volumeDevices[1].devicePath: Invalid value: \"/dev/../v\": can not contain "
                 "backsteps ('..')",
            at + "volumeDevices[2].name: Invalid value: \"e\": can only use volume source type "
                 "of PersistentVolumeClaim or Ephemeral for block mode",
            at + "volumeDevices[3].name: Not found: \"w\""});
  CHECK(device_faults("volumeMounts: [{name: v, mountPath: /v}], "
                      "volumeDevices: [{name: v, devicePath: /v}]") ==
        device_lines{
            at + "volumeMounts[0].name: Invalid value: \"v\": must not already exist in "
                 "volumeDevices",
            at + "volumeMounts[0].mountPath: Invalid value: \"/v\": must not already exist as a "
                 "path in volumeDevices",
            at + "volumeDevices[0].name: Invalid value: \"v\": must not already exist in "
                 "volumeMounts",
            at + "volumeDevices[0].devicePath: Invalid value: \"/v\": must not already exist as "
                 "a path in volumeMounts"});
}
