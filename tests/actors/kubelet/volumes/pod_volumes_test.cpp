// Volumes of pods on a real kubelet. Some need the right to mount; without it those tests say so
// and end.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "actors/kubelet/machine.hpp"
#include "actors/tokens/token_issuer.hpp"
#include "api/schema/core_config.pb.h"
#include "support/skip.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::Pod;

namespace {

bool may_mount() {
  if (actors::read_node_facts().may_mount) return true;
  skip("this user may not mount");
  return false;
}

std::string container(const std::string& name, const std::string& script,
                      const std::string& mounts) {
  return "  - name: " + name + "\n    image: x\n    command: [sh, -c, '" + script +
         "']\n    volumeMounts: [" + mounts + "]\n";
}

std::string pod(const std::string& name, const std::string& containers,
                const std::string& volumes) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         ", labels: {app: front}}\nspec:\n  terminationGracePeriodSeconds: 1\n  containers:\n" +
         containers + "  volumes:\n" + volumes;
}

const char* const paint =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: paint}\ndata: {colour: blue, size: '7'}";

// Issues tokens "t1", "t2" …, and rejects a number of requests first.
class token_giver : public runtime::actor {
 public:
  explicit token_giver(int refusals) : refusals_{refusals} {}
  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&token_giver::on_request);
    return table;
  }

 private:
  void on_request(const actors::request_token& m, runtime::promise<actors::token_answer> answer) {
    if (m.order.bound_name != "web" || m.order.bound_uid.empty())
      return answer.deliver({api::fail(api::bad_request("a token is bound to its pod"))});
    if (refusals_-- > 0) return answer.deliver({api::fail(api::service_unavailable("not now"))});
    answer.deliver({actors::granted_token{"t" + std::to_string(++given_), 0}});
  }
  int refusals_ = 0, given_ = 0;
};

}  // namespace

TEST_CASE("a pod waits for its token, which is renewed in time", "[kubelet]") {
  machine here;
  here.adjust = [&](actors::kubelet_options& options) {
    options.tokens =
        here.system().spawn({.kind = "test", .name = "tokens"}, runtime::make<token_giver>(1));
  };
  here.start_kubelet();
  here.create(pod("web", "  - {name: c, image: x, command: [sleep, '300']}\n",
                  "  - {name: v, projected: {sources: [{serviceAccountToken: {path: token, "
                  "expirationSeconds: 2}}]}}\n"));
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  CHECK(machine::wait([&] {
    return here.events("web", "FailedMount") ==
           std::vector<std::string>{"failed to fetch token: not now"};
  }));
  const auto token = here.pod_dir("web") / "volumes" / "kubernetes.io~projected" / "v" / "token";
  // One may be replaced before it is seen.
  const auto number = [&] {
    const auto text = text_of(token);
    return text.empty() ? 0 : std::atoi(text.c_str() + 1);
  };
  CHECK(machine::wait([&] { return number() >= 2; }));
  CHECK(machine::wait([&] { return number() >= 3; }));
}

TEST_CASE("containers of a pod share its emptyDir, and no other pod sees it", "[kubelet]") {
  if (!may_mount()) return;
  machine here;
  here.start_kubelet();
  const auto at = here.root().parent_path() / "mounted";
  const auto mount = "{name: v, mountPath: " + at.string() + "}";
  here.create(pod("web",
                  container("c", "echo hello >" + at.string() + "/note; exec sleep 300", mount) +
                      container("d",
                                "until cat " + at.string() +
                                    "/note; do sleep 0.1; done; exec sleep "
                                    "300",
                                mount),
                  "  - {name: v, emptyDir: {}}\n"));
  // Before or after the text that cat wrote to its other stream.
  REQUIRE(machine::wait([&] { return here.log("web", "d").find("hello\n") != std::string::npos; }));
  CHECK(std::filesystem::is_empty(at));
  const auto volume = here.pod_dir("web") / "volumes" / "kubernetes.io~empty-dir" / "v";
  CHECK(text_of(volume / "note") == "hello\n");
  const auto files = here.pod_dir("web");
  here.remove("web");
  REQUIRE(machine::wait([&] { return !here.find("web"); }));
  CHECK_FALSE(std::filesystem::exists(files));
  CHECK_FALSE(std::filesystem::exists(at));
}

TEST_CASE("files of a config map follow it while the container runs", "[kubelet]") {
  if (!may_mount()) return;
  machine here;
  here.start_kubelet();
  here.create(pod("web",
                  container("c",
                            "cd /; while :; do cat /run/troupe-test-paint/colour; echo; sleep 0.1; "
                            "done",
                            "{name: v, mountPath: /run/troupe-test-paint, readOnly: true}"),
                  "  - {name: v, configMap: {name: paint}}\n"));
  REQUIRE(machine::wait([&] { return !here.events("web", "FailedMount").empty(); }));
  CHECK(here.events("web", "FailedMount").front() ==
        "MountVolume.SetUp failed for volume \"v\" : configmap \"paint\" not found");
  here.create(paint);
  REQUIRE(machine::wait([&] { return here.log("web").starts_with("blue\n"); }));
  here.change<ConfigMap>("paint", [](ConfigMap& map) { (*map.mutable_data())["colour"] = "red"; });
  CHECK(machine::wait([&] { return here.log("web").ends_with("red\n"); }));
  CHECK(here.status("web").container_statuses(0).restart_count() == 0);
  here.remove("web");
  REQUIRE(machine::wait([&] { return !here.find("web"); }));
  CHECK_FALSE(std::filesystem::exists("/run/troupe-test-paint"));
}

TEST_CASE("subPath, readOnly, nested mounts, memory volumes and the downward API work",
          "[kubelet]") {
  if (!may_mount()) return;
  machine here;
  here.start_kubelet();
  here.create(paint);
  const auto at = (here.root().parent_path() / "m").string();
  here.create(pod(
      "web",
      container("c",
                "cat " + at + "/one; echo; touch " + at +
                    "/one 2>/dev/null || echo sealed; echo x >" + at + "/sub/file; cat " + at +
                    "/facts/app; echo; stat -f -c %T " + at + "; exec sleep 300",
                "{name: paint, mountPath: " + at +
                    "/one, subPath: colour, readOnly: true}, {name: "
                    "facts, mountPath: " +
                    at + "/facts}, {name: disk, mountPath: " + at +
                    "/sub, subPathExpr: $(WHO)/x}, {name: memory, mountPath: " + at + "}")
          .append("    env: [{name: WHO, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]\n"),
      "  - {name: paint, configMap: {name: paint}}\n  - {name: disk, emptyDir: {}}\n"
      "  - {name: memory, emptyDir: {medium: Memory, sizeLimit: 1Mi}}\n"
      "  - {name: facts, downwardAPI: {items: [{path: app, fieldRef: {fieldPath: "
      "\"metadata.labels['app']\"}}]}}\n"));
  REQUIRE(machine::wait([&] { return here.log("web").ends_with("tmpfs\n"); }));
  CHECK(here.log("web") == "blue\nsealed\nfront\ntmpfs\n");
  const auto volumes = here.pod_dir("web") / "volumes";
  CHECK(text_of(volumes / "kubernetes.io~empty-dir" / "disk" / "web" / "x" / "file") == "x\n");
  here.change<Pod>("web",
                   [](Pod& p) { (*p.mutable_metadata()->mutable_labels())["app"] = "back"; });
  CHECK(machine::wait(
      [&] { return text_of(volumes / "kubernetes.io~downward-api" / "facts" / "app") == "back"; }));
  here.remove("web");
  REQUIRE(machine::wait([&] { return !here.find("web"); }));
  CHECK_FALSE(std::filesystem::exists(at));
  CHECK(text_of("/proc/self/mountinfo").find(here.root().string()) == std::string::npos);
}

TEST_CASE("volumes with data of the API are read-only in containers", "[kubelet]") {
  if (!may_mount()) return;
  machine here;
  here.start_kubelet();
  here.create(paint);
  here.create("apiVersion: v1\nkind: Secret\nmetadata: {name: hush}\ndata: {key: MQ==}");
  const auto at = (here.root().parent_path() / "m").string();
  std::string mounts = "{name: disk, mountPath: " + at + "/map/disk}";
  for (const std::string name : {"map", "secret", "facts", "many"})
    mounts += ", {name: " + name + ", mountPath: " + at + "/" + name + "}";
  here.create(pod("web",
                  container("c",
                            "cd " + at +
                                "; for d in map secret facts many map/disk; do touch $d/new && "
                                "echo $d; done 2>/dev/null; echo done; exec sleep 300",
                            mounts),
                  "  - {name: map, configMap: {name: paint}}\n"
                  "  - {name: secret, secret: {secretName: hush}}\n"
                  "  - {name: facts, downwardAPI: {items: [{path: name, fieldRef: {fieldPath: "
                  "metadata.name}}]}}\n"
                  "  - {name: many, projected: {sources: [{configMap: {name: paint}}]}}\n"
                  "  - {name: disk, emptyDir: {}}\n"));
  REQUIRE(machine::wait([&] { return here.log("web").ends_with("done\n"); }));
  CHECK(here.log("web") == "map/disk\ndone\n");
}

TEST_CASE("a pod whose volume exceeds its limit is evicted", "[kubelet]") {
  machine here;
  here.adjust = [](actors::kubelet_options& options) {
    options.may_mount = false;
    options.storage_measuring = std::chrono::milliseconds{50};
  };
  here.start_kubelet();
  const auto fill = [&](const std::string& name, const std::string& bytes) {
    here.create(pod(name,
                    container("c",
                              "head -c " + bytes +
                                  " /dev/zero >$TROUPE_VOLUME_V/file; echo full; exec sleep 300",
                              "{name: v, mountPath: /v}"),
                    "  - {name: v, emptyDir: {sizeLimit: 1Mi}}\n"));
  };
  fill("modest", "500000");
  REQUIRE(machine::wait([&] { return here.log("modest") == "full\n"; }));
  fill("greedy", "3000000");
  REQUIRE(machine::wait([&] { return here.ended("greedy"); }));
  const auto status = here.status("greedy");
  CHECK(status.phase() == "Failed");
  CHECK(status.reason() == "Evicted");
  CHECK(status.message() == "Usage of EmptyDir volume \"v\" exceeds the limit \"1Mi\". ");
  CHECK(status.container_statuses(0).state().has_terminated());
  CHECK(machine::wait([&] {
    return here.events("greedy", "Evicted") == std::vector<std::string>{status.message()};
  }));
  CHECK(machine::wait([&] { return here.runs("modest"); }));
}

TEST_CASE("a volume of an unknown kind holds the pod back and is named", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(
      pod("web", container("c", "exec sleep 300", "{name: v, mountPath: /v}"),
          "  - {name: v, iscsi: {targetPortal: s, iqn: iqn.2001-04.com.example:s, lun: 0}}\n"));
  REQUIRE(machine::wait([&] { return !here.events("web", "FailedMount").empty(); }));
  CHECK(here.events("web", "FailedMount").front() ==
        "MountVolume.SetUp failed for volume \"v\" : volumes of this kind are not supported here");
  CHECK(here.status("web").phase() == "Pending");
}

TEST_CASE("without mounts a container finds the paths of its volumes in variables", "[kubelet]") {
  machine here;
  here.adjust = [](actors::kubelet_options& options) { options.may_mount = false; };
  here.start_kubelet();
  here.create(paint);
  here.create(pod("web",
                  container("c", "cat $TROUPE_VOLUME_MY_PAINT/colour; echo; exec sleep 300",
                            "{name: my-paint, mountPath: /nowhere/at/all}"),
                  "  - {name: my-paint, configMap: {name: paint}}\n"));
  REQUIRE(machine::wait([&] { return here.log("web") == "blue\n"; }));
  CHECK_FALSE(std::filesystem::exists("/nowhere"));
  REQUIRE(machine::wait([&] { return !here.events("web", "NotSupported").empty(); }));
  CHECK_THAT(here.events("web", "NotSupported").front(),
             Catch::Contains("TROUPE_VOLUME_MY_PAINT=" + here.pod_dir("web").string()));
}

TEST_CASE("an emptyDir outlives its kubelet, and its mount is removed with the pod", "[kubelet]") {
  if (!may_mount()) return;
  machine here;
  here.start_kubelet();
  const auto at = (here.root().parent_path() / "m").string();
  here.create(pod("web",
                  container("c", "echo kept >" + at + "/note; exec sleep 300",
                            "{name: v, mountPath: " + at + "}"),
                  "  - {name: v, emptyDir: {medium: Memory}}\n"));
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  const auto note = here.pod_dir("web") / "volumes" / "kubernetes.io~empty-dir" / "v" / "note";
  REQUIRE(machine::wait([&] { return text_of(note) == "kept\n"; }));
  here.stop_kubelet();
  here.start_kubelet();
  here.create(pod("later", container("c", "exec sleep 300", ""), "  - {name: v, emptyDir: {}}\n"));
  REQUIRE(machine::wait([&] { return here.runs("later"); }));
  CHECK(text_of(note) == "kept\n");
  // Deleted while no kubelet ran: the next one finds the orphan with its mount.
  here.stop_kubelet();
  here.remove("web", 0);
  here.start_kubelet();
  CHECK(machine::wait([&] { return !std::filesystem::exists(note.parent_path()); }));
  CHECK(machine::wait([&] { return !std::filesystem::exists(at); }));
}

}  // namespace troupe::test
