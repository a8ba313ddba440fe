// The isolation of containers, seen from inside, on a real kubelet with real processes. Each test
// needs root; without it the tests say so and end.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/security/process_identity.hpp"
#include "support/skip.hpp"

namespace troupe::test {

namespace {

// Lets other users access the files below.
void open_up(const machine& here) {
  ::chmod(here.root().parent_path().c_str(), 0755);
}

bool is_root() {
  const auto rights = actors::read_rights();
  if (rights.user == 0 && rights.has("SYS_ADMIN")) return true;
  skip("this user is not root");
  return false;
}

// A pod that runs a script once, with its two securityContexts.
std::string pod(const std::string& script, const std::string& of_pod,
                const std::string& of_container, const std::string& volumes = "",
                const std::string& mounts = "") {
  std::string lines;
  std::istringstream in{script};
  for (std::string line; std::getline(in, line);)
    lines += "      " + line + "\n";
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: Never\n"
         "  terminationGracePeriodSeconds: 1\n  securityContext: {" +
         of_pod + "}\n  volumes: [" + volumes +
         "]\n  containers:\n  - name: c\n    image: x\n    securityContext: {" + of_container +
         "}\n    volumeMounts: [" + mounts + "]\n    command:\n    - sh\n    - -c\n    - |\n" +
         lines;
}

void remove_pod(machine& here) {
  const auto files = here.pod_dir("p");
  here.remove("p", 0);
  REQUIRE(machine::wait([&] { return !here.find("p") && !std::filesystem::exists(files); }));
}

// The output of the script.
std::string say(machine& here, const std::string& yaml) {
  here.create(yaml);
  REQUIRE(machine::wait([&] { return here.ended("p"); }));
  auto text = here.log("p");
  remove_pod(here);
  return text;
}

constexpr const char* facts =
    "grep -E '^(Uid|Gid|Groups|CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp):' "
    "/proc/self/status | tr -s '\\t ' ' '";

std::string hex(actors::capability_set set) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(set));
  return text;
}

// The node's data, next to the kubelet's root, with a key in it.
struct node_data {
  explicit node_data(machine& here) : at{here.root().parent_path() / "data"} {
    open_up(here);
    std::filesystem::create_directories(at / "pki");
    std::ofstream{at / "pki" / "ca.key"} << "KEY\n";
    ::chmod(at.c_str(), 0700);
    here.adjust = [at = at](actors::kubelet_options& options) {
      options.hidden.push_back(at.string());
    };
    here.start_kubelet();
  }
  std::string key() const { return (at / "pki" / "ca.key").string(); }
  std::filesystem::path at;
};

}  // namespace

TEST_CASE("users, groups, capabilities and filters are those of the pod's spec", "[kubelet]") {
  if (!is_root()) return;
  machine here;
  here.start_kubelet();
  const auto by_default = hex(actors::default_capabilities() & actors::read_rights().capabilities);
  const std::string none = "0000000000000000";
  CHECK(say(here, pod(facts, "", "")) == "Uid: 0 0 0 0\nGid: 0 0 0 0\nGroups: 0 \nCapInh: " + none +
                                             "\nCapPrm: " + by_default + "\nCapEff: " + by_default +
                                             "\nCapBnd: " + by_default + "\nCapAmb: " + none +
                                             "\nNoNewPrivs: 0\nSeccomp: 0\n");
  CHECK(say(here, pod(facts,
                      "runAsNonRoot: true, runAsUser: 54321, runAsGroup: 6, supplementalGroups: "
                      "[8], fsGroup: 7, seccompProfile: {type: RuntimeDefault}",
                      "capabilities: {drop: [ALL]}, allowPrivilegeEscalation: false")) ==
        "Uid: 54321 54321 54321 54321\nGid: 6 6 6 6\nGroups: 6 7 8 \nCapInh: " + none +
            "\nCapPrm: " + none + "\nCapEff: " + none + "\nCapBnd: " + none + "\nCapAmb: " + none +
            "\nNoNewPrivs: 1\nSeccomp: 2\n");
  const auto one = hex(actors::capability_bit(*actors::capability_number("NET_ADMIN")));
  const auto added = say(here, pod(facts, "", "capabilities: {drop: [ALL], add: [NET_ADMIN]}"));
  CHECK_THAT(added, Catch::Contains("CapEff: " + one) && Catch::Contains("CapBnd: " + one));
  CHECK_THAT(say(here, pod(facts, "", "privileged: true")),
             Catch::Contains("CapEff: " + hex(actors::read_rights().capabilities)));
}

TEST_CASE("a command in a container has its user, capabilities and filter too", "[kubelet]") {
  if (!is_root()) return;
  machine here;
  node_data data{here};
  const auto out = here.root().parent_path() / "out";
  std::filesystem::create_directory(out);
  ::chmod(out.c_str(), 0777);
  const std::string script = "cat /proc/self/status >" + out.string() + "/facts; cat " +
                             data.key() + " >" + out.string() + "/key; true";
  here.create(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  terminationGracePeriodSeconds: 1\n"
      "  containers:\n  - name: c\n    image: x\n    command: [sleep, '300']\n    securityContext: "
      "{runAsUser: 54321, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, "
      "seccompProfile: {type: RuntimeDefault}}\n    startupProbe: {exec: {command: [sh, -c, '" +
      script + "']}, timeoutSeconds: 60}\n");
  REQUIRE(machine::wait([&] { return here.runs("p"); }));
  const auto status = text_of(out / "facts");
  CHECK_THAT(status, Catch::Contains("Uid:\t54321\t54321") && Catch::Contains("NoNewPrivs:\t1") &&
                         Catch::Contains("Seccomp:\t2") &&
                         Catch::Contains("CapBnd:\t0000000000000000"));
  CHECK(text_of(out / "key").empty());
}

TEST_CASE("no path in a container reaches the node's data", "[kubelet]") {
  if (!is_root()) return;
  machine here;
  node_data data{here};
  const auto at = data.at.string(), up = data.at.parent_path().string();
  const auto link = data.at.parent_path() / "link";
  std::filesystem::create_symlink(data.at, link);
  const std::string host = "{name: v, hostPath: {path: ";
  const auto mount = "{name: v, mountPath: " + up + "/m}";
  const auto look = [](const std::string& path) {
    return "cat " + path + "/pki/ca.key 2>/dev/null; find " + path +
           " -name ca.key 2>/dev/null; echo done\n";
  };
  SECTION("by its path, and by those of other processes") {
    CHECK(say(here, pod(look(at) + "for p in /proc/[0-9]*; do cat $p/root" + data.key() +
                            " $p/cwd/pki/ca.key 2>/dev/null; done; cat ../" + data.key() +
                            " 2>/dev/null; ls /proc/self/fd | wc -l",
                        "", "")) == "done\n4\n");
  }
  SECTION("by another process's directory, where the init is asked") {
    CHECK(say(here, pod("ls /proc/1/root" + at + " 2>/dev/null | wc -l", "", "")) == "0\n");
  }
  SECTION("by a hostPath that holds it") {
    CHECK(say(here, pod(look(up + "/m" + at), "", "", host + "/}}", mount)) == "done\n");
  }
  SECTION("by a hostPath to the directory above it") {
    CHECK(say(here, pod(look(up + "/m/data"), "", "", host + up + "}}", mount)) == "done\n");
  }
  SECTION("by the processes of the machine in a hostPath") {
    CHECK(say(here,
              pod("ls " + up + "/m | grep -c '^[0-9]'; for p in " + up +
                      "/m/[0-9]*; do cat $p/root" + data.key() + " 2>/dev/null; done; echo done",
                  "", "", host + "/proc}}", mount))
              .ends_with("done\n"));
  }
  SECTION("by a hostPath to it, or by a link to it") {
    for (const auto& path :
         {at, at + "/pki", link.string(), link.string() + "/pki", here.root().string() + "/pods"}) {
      here.create(pod("true", "", "", host + path + "}}", mount));
      CHECK(machine::wait([&] {
        const auto all = here.events("p", "FailedMount");
        return std::any_of(all.begin(), all.end(), [&](const auto& each) {
          return each.ends_with("hostPath " + path +
                                " lies in the node's own data, which no pod may reach");
        });
      }));
      remove_pod(here);
    }
    CHECK_FALSE(std::filesystem::exists(data.at / "pki" / "new"));
  }
  SECTION("by a device of the disk that it is on") {
    CHECK(
        say(here,
            pod("ls /dev | grep -v mqueue | tr '\\n' ' '; mknod /tmp/troupe-test-disk b 254 0; cat "
                "/tmp/troupe-test-disk 2>&1 | head -c 1000; rm -f /tmp/troupe-test-disk",
                "", "")) ==
        "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero cat: "
        "/tmp/troupe-test-disk: Permission denied\n");
  }
  SECTION("by what makes the kernel run a program outside") {
    CHECK(say(here, pod("cat /proc/sys/kernel/core_pattern >/dev/null && echo read; echo x "
                        "2>/dev/null >/proc/sys/kernel/core_pattern || echo sealed; echo b "
                        "2>/dev/null >/proc/sysrq-trigger || echo sealed",
                        "", "")) == "read\nsealed\nsealed\n");
  }
  CHECK(text_of(data.key()) == "KEY\n");
}

TEST_CASE("another mount of the node's data is covered as well", "[kubelet]") {
  if (!is_root()) return;
  machine here;
  node_data data{here};
  const auto parent_mount = data.at.parent_path() / "whole", part = data.at.parent_path() / "part";
  for (const auto& [from, to] :
       {std::pair{data.at.parent_path(), parent_mount}, {data.at / "pki", part}}) {
    std::filesystem::create_directory(to);
    REQUIRE(::mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) == 0);
  }
  CHECK(say(here, pod("cat " + parent_mount.string() + "/data/pki/ca.key " + part.string() +
                          "/ca.key 2>/dev/null; ls " + parent_mount.string() + "/data " +
                          part.string() + " | grep -c key",
                      "", "")) == "0\n");
  for (const auto& each : {parent_mount, part})
    ::umount2(each.c_str(), MNT_DETACH);
}

TEST_CASE("a read-only root leaves volumes, /proc and /dev as they are", "[kubelet]") {
  if (!is_root()) return;
  machine here;
  here.start_kubelet();
  const auto at = here.root().parent_path().string();
  CHECK(say(here, pod("for d in / /tmp /etc " + at + " " + at +
                          "/m /dev/shm; do touch $d/troupe-test 2>/dev/null && echo $d && rm "
                          "$d/troupe-test; done; echo x >/dev/null && echo 0 "
                          ">/proc/self/oom_score_adj && echo written",
                      "", "readOnlyRootFilesystem: true", "{name: v, emptyDir: {}}",
                      "{name: v, mountPath: " + at + "/m}")) == at + "/m\n/dev/shm\nwritten\n");
}

TEST_CASE("volumes are the fsGroup's, and secrets are in memory", "[kubelet]") {
  if (!is_root()) return;
  machine here;
  open_up(here);
  here.start_kubelet();
  here.create("apiVersion: v1\nkind: Secret\nmetadata: {name: hush}\ndata: {key: MQ==}");
  const auto at = here.root().parent_path().string();
  const auto text = say(
      here, pod("cd " + at + "/e && touch new && stat -c '%g %a' . new && cd " + at +
                    "/s && stat -c '%g %a' . && stat -L -c '%g %a' key && cat key && echo && stat "
                    "-f -c %T .",
                "runAsUser: 54321, fsGroup: 4321", "",
                "{name: e, emptyDir: {}}, {name: s, secret: {secretName: hush, defaultMode: 256}}",
                "{name: e, mountPath: " + at + "/e}, {name: s, mountPath: " + at + "/s}"));
  CHECK(text == "4321 2777\n4321 644\n4321 2755\n4321 440\n1\ntmpfs\n");
  CHECK(machine::wait([&] {
    return text_of("/proc/self/mountinfo").find(here.root().string()) == std::string::npos;
  }));
}

TEST_CASE("secrets in memory outlive the kubelet, and go with their pod", "[kubelet]") {
  if (!is_root()) return;
  machine here;
  here.start_kubelet();
  here.create("apiVersion: v1\nkind: Secret\nmetadata: {name: hush}\ndata: {key: MQ==}");
  const auto at = here.root().parent_path().string();
  here.create(pod("until test -e " + at + "/go; do sleep 0.05; done; cat " + at + "/s/key", "", "",
                  "{name: s, secret: {secretName: hush}}", "{name: s, mountPath: " + at + "/s}"));
  REQUIRE(machine::wait([&] { return here.runs("p"); }));
  const auto mounts = [&] {
    const auto all = text_of("/proc/self/mountinfo");
    int count = 0;
    for (auto i = all.find(here.root().string()); i != std::string::npos;
         i = all.find(here.root().string(), i + 1))
      ++count;
    return count;
  };
  CHECK(mounts() == 1);
  here.stop_kubelet();
  CHECK(mounts() == 1);
  here.start_kubelet();
  std::ofstream{at + "/go"};
  REQUIRE(machine::wait([&] { return here.ended("p"); }));
  CHECK(here.log("p") == "1\n");
  CHECK(mounts() == 1);
  remove_pod(here);
  // Its directory is removed with it; the kernel lists a mount a moment longer.
  CHECK(machine::wait([&] { return mounts() == 0; }));
}

TEST_CASE("a link that a container leaves in a volume makes nothing outside of it", "[kubelet]") {
  if (!is_root()) return;
  machine here;
  here.start_kubelet();
  const auto at = here.root().parent_path() / "m", outside = here.root().parent_path() / "outside";
  std::filesystem::create_directories(here.root().parent_path() / "host");
  std::filesystem::create_symlink(outside / "made", here.root().parent_path() / "host" / "link");
  here.create(pod("true", "", "",
                  "{name: v, hostPath: {path: " + (here.root().parent_path() / "host").string() +
                      "}}, {name: e, emptyDir: {}}",
                  "{name: v, mountPath: " + at.string() + "}, {name: e, mountPath: " + at.string() +
                      "/link/below}"));
  REQUIRE(machine::wait([&] { return here.ended("p"); }));
  CHECK_FALSE(std::filesystem::exists(outside));
  CHECK(here.status("p").phase() == "Failed");
}

TEST_CASE("a refused container reports the reason, and runs once it is allowed", "[kubelet]") {
  if (!is_root()) return;
  machine here;
  here.start_kubelet();
  here.create(pod("true", "runAsNonRoot: true", ""));
  REQUIRE(machine::wait([&] {
    const auto status = here.status("p");
    return status.container_statuses_size() == 1 &&
           status.container_statuses(0).state().waiting().reason() == "CreateContainerConfigError";
  }));
  CHECK_THAT(here.status("p").container_statuses(0).state().waiting().message(),
             Catch::StartsWith(
                 "container has runAsNonRoot and image will run as root (pod: \"p_default("));
}

TEST_CASE("seccomp profiles deny the system calls that they list", "[kubelet]") {
  if (!is_root()) return;
  machine here;
  here.start_kubelet();
  CHECK(say(here,
            pod("unshare -m true 2>&1 | head -1; chmod 600 /proc/self/fd/1 2>/dev/null; echo went",
                "seccompProfile: {type: RuntimeDefault}", "capabilities: {add: [SYS_PTRACE]}")) ==
        "unshare: unshare failed: Operation not permitted\nwent\n");
  const auto folder = here.root() / "seccomp";
  std::filesystem::create_directory(folder);
  std::ofstream{folder / "no-mkdir.json"}
      << R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"],
            "action": "SCMP_ACT_ERRNO", "errnoRet": 13}]})";
  CHECK(say(here, pod("mkdir /tmp/troupe-test-x 2>&1; echo went",
                      "seccompProfile: {type: Localhost, localhostProfile: no-mkdir.json}", "")) ==
        "mkdir: cannot create directory '/tmp/troupe-test-x': Permission denied\nwent\n");
  here.create(pod("true", "seccompProfile: {type: Localhost, localhostProfile: none.json}", ""));
  REQUIRE(machine::wait([&] { return here.ended("p"); }));
  CHECK_THAT(here.status("p").container_statuses(0).state().terminated().message(),
             Catch::Contains("none.json"));
}

}  // namespace troupe::test
