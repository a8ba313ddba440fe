// Limits of a pod's local storage: of its emptyDirs, of its containers, and of both together.
#include "actors/kubelet/pressure/storage_limits.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>

#include "actors/kubelet/fake_runtime.hpp"
#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/pressure/pressure_reader.hpp"
#include "api/codec/codec.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::actors {

using api::core::v1::Pod;
using test::machine;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t mib = 1 << 20;

Pod pod_of(const std::string& spec) {
  auto decoded = api::decode("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n" + spec,
                             api::media::yaml, nullptr);
  REQUIRE(decoded);
  return static_cast<Pod&>(*decoded->content);
}

const char* const limited =
    "  containers:\n"
    "  - {name: a, resources: {limits: {ephemeral-storage: 1024Ki}}}\n"
    "  - {name: b, resources: {limits: {ephemeral-storage: 3Mi}}}\n"
    "  - {name: c}\n"
    "  volumes:\n"
    "  - {name: small, emptyDir: {sizeLimit: 1024Ki}}\n"
    "  - {name: large, emptyDir: {}}\n"
    "  - {name: memory, emptyDir: {medium: Memory}}\n"
    "  - {name: limited-memory, emptyDir: {medium: Memory, sizeLimit: 1Mi}}\n";

std::string message_of(const storage_usage& usage) {
  const auto failure = over_limit(pod_of(limited), usage);
  return failure ? failure->message : std::string{};
}

void in_rounds_of_50_ms(kubelet_options& options) {
  options.may_mount = false;
  options.storage_measuring = 50ms;
}

}  // namespace

TEST_CASE("a pod exceeds the limit of a volume, of all its containers, or of one", "[kubelet]") {
  CHECK(message_of({.empty_dirs = {{"small", mib}, {"large", 9 * mib}},
                    .containers = {{"a", mib}, {"b", 3 * mib}, {"c", 9 * mib}},
                    .pod = 4 * mib}) == "");
  CHECK(message_of({.empty_dirs = {{"small", mib + 1}}, .pod = 9 * mib}) ==
        "Usage of EmptyDir volume \"small\" exceeds the limit \"1Mi\". ");
  CHECK(message_of({.containers = {{"a", 9 * mib}}, .pod = 4 * mib + 1}) ==
        "Pod ephemeral local storage usage exceeds the total limit of containers 4Mi. ");
  CHECK(message_of({.containers = {{"a", mib + 1}}, .pod = mib + 1}) ==
        "Container a exceeded its local ephemeral storage limit \"1Mi\". ");
  const auto failure = over_limit(pod_of(limited), {.pod = 9 * mib});
  REQUIRE(failure);
  CHECK(failure->reason == "Evicted");
  CHECK(failure->grace == runtime::duration{1s});
  CHECK_FALSE(failure->disruption);
}

TEST_CASE("only pods with a limit of local storage are measured, and no critical ones",
          "[kubelet]") {
  CHECK(has_storage_limits(pod_of(limited)));
  CHECK(limits_containers(pod_of(limited)));
  const auto volume =
      pod_of("  containers: [{name: c}]\n  volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}]\n");
  CHECK(has_storage_limits(volume));
  CHECK_FALSE(limits_containers(volume));
  CHECK_FALSE(has_storage_limits(
      pod_of("  containers: [{name: c, resources: {limits: {memory: 1Mi}}}]\n"
             "  volumes: [{name: v, emptyDir: {}}, {name: w, emptyDir: {sizeLimit: '0'}}]\n")));
  auto critical = pod_of(limited);
  critical.mutable_spec()->set_priority(2'000'000'000);
  CHECK_FALSE(has_storage_limits(critical));
}

TEST_CASE(
    "logs, layers and volumes on disk count for a pod, layers on another disk not for one "
    "container",
    "[kubelet]") {
  const test::scratch_folder folder;
  const auto write = [&](const std::string& file, std::size_t bytes) {
    std::filesystem::create_directories((folder.path() / file).parent_path());
    folder.write(file, std::string(bytes, 'x'));
  };
  write("logs/a/0.log", 200'000);
  write("logs/a/0.log.1", 200'000);
  write("volumes/kubernetes.io~empty-dir/small/file", 1'000'000);
  write("volumes/kubernetes.io~empty-dir/large/file", 2'000'000);
  write("volumes/kubernetes.io~empty-dir/memory/file", 4'000'000);
  write("volumes/kubernetes.io~empty-dir/limited-memory/file", 8'000'000);
  const auto usage = read_storage(pod_of(limited), folder.path(),
                                  {{.container = "a", .bytes = 10'000'000},
                                   {.container = "b", .bytes = 20'000'000, .apart = true}});
  const auto about = [](std::int64_t bytes, std::int64_t expected) {
    return bytes >= expected && bytes < expected + 100'000;
  };
  CHECK(about(usage.containers.at("a"), 10'400'000));
  CHECK(about(usage.containers.at("b"), 0));
  CHECK(about(usage.empty_dirs.at("small"), 1'000'000));
  CHECK(about(usage.empty_dirs.at("limited-memory"), 8'000'000));
  CHECK(about(usage.pod, 33'400'000));
}

TEST_CASE("a container that writes more than its limit gets its pod evicted", "[kubelet]") {
  machine here;
  here.adjust = in_rounds_of_50_ms;
  here.start_kubelet();
  const auto create = [&](const std::string& name, const std::string& script) {
    here.create("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                "}\nspec:\n  terminationGracePeriodSeconds: 1\n"
                "  volumes: [{name: v, emptyDir: {}}]\n  containers:\n"
                "  - name: c\n    image: x\n    command: [sh, -c, '" +
                script +
                "']\n    volumeMounts: [{name: v, mountPath: /v}]\n"
                "    resources: {limits: {ephemeral-storage: 1Mi}}\n"
                "  - name: d\n    image: x\n    command: [sleep, '300']\n"
                "    resources: {limits: {ephemeral-storage: 4Mi}}\n");
  };
  create("modest", "head -c 500000 /dev/zero >$TROUPE_VOLUME_V/file; echo full; exec sleep 300");
  create("talker", "head -c 3000000 /dev/zero; exec sleep 300");
  create("hoarder", "head -c 9000000 /dev/zero >$TROUPE_VOLUME_V/file; exec sleep 300");
  REQUIRE(machine::wait([&] { return here.ended("talker") && here.ended("hoarder"); }));
  CHECK(here.status("talker").phase() == "Failed");
  CHECK(here.status("talker").reason() == "Evicted");
  CHECK(here.status("talker").message() ==
        "Container c exceeded its local ephemeral storage limit \"1Mi\". ");
  CHECK(machine::wait([&] {
    return here.events("talker", "Evicted") ==
           std::vector<std::string>{here.status("talker").message()};
  }));
  CHECK(here.status("hoarder").message() ==
        "Pod ephemeral local storage usage exceeds the total limit of containers 5Mi. ");
  CHECK(machine::wait([&] { return here.log("modest") == "full\n"; }));
  CHECK(machine::wait([&] { return here.runs("modest"); }));
}

TEST_CASE("a container's writable layer counts for its limit", "[kubelet]") {
  machine here;
  const auto runtime = std::make_shared<test::fake_runtime>();
  here.containers = runtime;
  here.adjust = in_rounds_of_50_ms;
  here.start_kubelet();
  const auto uid =
      here.create(
              "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n"
              "  - {name: c, image: x, resources: {limits: {ephemeral-storage: 1Mi}}}\n")
          ->meta()
          .uid();
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  runtime->has_layers({{.pod_uid = "another", .container = "c", .bytes = 9 * mib},
                       {.pod_uid = uid, .container = "c", .bytes = 2 * mib}});
  REQUIRE(machine::wait([&] { return here.ended("web"); }));
  CHECK(here.status("web").message() ==
        "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ");
}

TEST_CASE("on a disk that is short pods with more bytes or files than they request go first",
          "[kubelet]") {
  machine here;
  const auto runtime = std::make_shared<test::fake_runtime>();
  here.containers = runtime;
  const bool of_inodes = GENERATE(false, true);
  const auto full = std::make_shared<std::atomic<bool>>(false);
  here.adjust = [&](kubelet_options& options) {
    options.evictions.emplace();
    options.pressure_period = 20ms;
    options.read_supplies = [of_inodes, full, runtime] {
      node_supplies supplies;
      supplies.disk = supplies.inodes = {900, 1'000};
      // Until a pod is evicted.
      const bool evicted =
          runtime->was_asked("stop fake://bytes-0") || runtime->was_asked("stop fake://files-0");
      if (*full && !evicted) (of_inodes ? supplies.inodes : supplies.disk).left = 1;
      return supplies;
    };
  };
  here.start_kubelet();
  const auto create = [&](const std::string& name) {
    return here
        .create("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                "}\nspec: {containers: [{name: " + name +
                ", image: x, resources: {requests: {ephemeral-storage: 100Mi}}}]}\n")
        ->meta()
        .uid();
  };
  runtime->has_layers(
      {{.pod_uid = create("bytes"), .container = "bytes", .bytes = 200 * mib, .files = 1},
       {.pod_uid = create("files"), .container = "files", .bytes = mib, .files = 9'000}});
  REQUIRE(machine::wait([&] { return here.runs("bytes") && here.runs("files"); }));
  *full = true;
  const std::string first = of_inodes ? "files" : "bytes", other = of_inodes ? "bytes" : "files";
  REQUIRE(machine::wait([&] { return here.ended(first); }));
  CHECK(here.status(first).reason() == "Evicted");
  CHECK(here.runs(other));
}

}  // namespace troupe::actors
