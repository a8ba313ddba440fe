// Raw devices of local volumes in containers, with a loop device over a file.
#include <catch2/catch.hpp>

#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/containers/container_machine.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

class loop_device {
 public:
  explicit loop_device(const std::filesystem::path& file) : log_{file.string() + ".log"} {
    process program{{"sh", "-c", "losetup --find --show " + file.string()}, log_};
    path_ = program.read_line(limit);
    if (program.wait(limit) != 0) path_.clear();
  }
  ~loop_device() {
    if (!path_.empty()) process{{"losetup", "--detach", path_}, log_}.wait(limit);
  }
  loop_device(const loop_device&) = delete;
  loop_device& operator=(const loop_device&) = delete;

  // Empty: this machine makes none.
  const std::string& path() const noexcept { return path_; }

 private:
  static constexpr auto limit = std::chrono::seconds{60};
  const std::filesystem::path log_;
  std::string path_;
};

// With the path of the device.
constexpr const char* device_claim = R"(apiVersion: v1
kind: PersistentVolume
metadata: {{name: disk}}
spec:
  capacity: {{storage: 1Mi}}
  accessModes: [ReadWriteOnce]
  storageClassName: raw
  volumeMode: Block
  local: {{path: "{}"}}
  nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [
    {{key: kubernetes.io/hostname, operator: Exists}}]}}]}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: disk}}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: raw
  volumeMode: Block
  resources: {{requests: {{storage: 1Mi}}}}
)";

// With its name, its command, and whether the claim is read-only.
constexpr const char* device_user = R"(---
apiVersion: v1
kind: Pod
metadata: {{name: {}}}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: localhost/tools:1
    command: [sh, -c, "{}"]
    volumeDevices: [{{name: v, devicePath: /dev/xvda}}]
  volumes: [{{name: v, persistentVolumeClaim: {{claimName: disk, readOnly: {}}}}}]
)";

}  // namespace

TEST_CASE("a container writes to the raw device of its claim, and reads that of a read-only claim",
          "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  const auto image = folder.write("disk", std::string(1 << 20, '\0'));
  const loop_device device{image};
  if (device.path().empty()) return skip("losetup makes no loop device here");
  std::filesystem::create_symlink(device.path(), folder.path() / "link");
  container_machine on{folder.path(), "10.213.23.0/24"};
  write_file(on.home() / "pods.yaml",
             fmt::format(device_claim, (folder.path() / "link").string()) +
                 fmt::format(device_user, "writer",
                             "test -b /dev/xvda && echo raw | dd of=/dev/xvda conv=fsync", false));
  REQUIRE(on.run("kubectl create -f pods.yaml").code == 0);
  const auto phase = [](const std::string& pod) {
    return fmt::format("kubectl get pod {} -o jsonpath='{{.status.phase}}'", pod);
  };
  CHECK(on.until(phase("writer"), "Succeeded") == "Succeeded");
  INFO(on.run("kubectl describe pod writer; kubectl logs writer").output);
  CHECK(read_file(image).substr(0, 4) == "raw\n");

  write_file(on.home() / "reader.yaml",
             fmt::format(device_user, "reader",
                         "head -c 4 /dev/xvda; (echo new > /dev/xvda) 2> /dev/null || echo refused",
                         true));
  REQUIRE(on.run("kubectl create -f reader.yaml").code == 0);
  CHECK(on.until(phase("reader"), "Succeeded") == "Succeeded");
  CHECK(on.run("kubectl logs reader").output == "raw\nrefused\n");
  CHECK(read_file(image).substr(0, 4) == "raw\n");
}
