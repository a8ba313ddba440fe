// Images of the container runtime interface: pull credentials, and garbage collection.
#include <catch2/catch.hpp>

#include "actors/kubelet/runtimes/cri/image_collector.hpp"
#include "actors/kubelet/runtimes/cri/image_name.hpp"
#include "actors/kubelet/runtimes/cri/pull_secrets.hpp"
#include "actors/kubelet/runtimes/cri/pull_turns.hpp"
#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"

using namespace troupe;
using namespace troupe::actors;
using namespace std::chrono_literals;
using api::core::v1::Secret;

namespace {

api::object_ptr secret(const std::string& type, const std::string& key, const std::string& text) {
  auto made = std::make_unique<Secret>();
  made->mutable_metadata()->set_name("regcred");
  made->mutable_metadata()->set_namespace_("shop");
  made->set_type(type);
  (*made->mutable_data())[key] = text;
  return std::make_shared<const api::object>(api::kind_of<Secret>(), std::move(made), 1);
}

api::object_ptr docker_config(const std::string& auths) {
  return secret("kubernetes.io/dockerconfigjson", ".dockerconfigjson",
                R"({"auths":)" + auths + R"(,"credsStore":"x"})");
}

// Names of the users whose credentials are offered for an image, in order.
std::string users_for(const std::string& image, const std::vector<api::object_ptr>& secrets) {
  const auto all = pull_credentials(image, secrets);
  if (!all) return all.error();
  std::string out;
  for (const auto& each : *all)
    out += each.username() + ":" + each.password() + " ";
  return out;
}

const known_image::time_point now = known_image::time_point{} + 10h;

std::string removed(const std::vector<known_image>& images, std::int64_t bytes) {
  std::string out;
  for (const auto& each : images_to_remove(images, bytes, {}, now))
    out += each.id;
  return out;
}

}  // namespace

TEST_CASE("an image without a tag is the latest", "[kubelet]") {
  const auto digest = "@sha256:" + std::string(64, 'a');
  CHECK(complete_image("nginx") == "nginx:latest");
  CHECK(complete_image("127.0.0.1:5000/team/web") == "127.0.0.1:5000/team/web:latest");
  CHECK(complete_image("[::1]:5000/web") == "[::1]:5000/web:latest");
  for (const std::string whole :
       {"Reg.example/web:V1", "a-b.c/d__e/f--g.h_1:_x.Y-z", "docker.io/library/nginx:1"})
    CHECK(complete_image(whole) == whole);
  for (const auto* name : {"web", "web:1", "localhost:5000/web"})
    CHECK(complete_image(name + digest) == name + digest);
  CHECK(complete_image("web@sha512:" + std::string(128, '0')));
}

TEST_CASE("a malformed image name or digest is refused with upstream's message", "[kubelet]") {
  const std::string hex(64, 'a');
  const auto problem = [](const std::string& image) {
    const auto made = complete_image(image);
    if (made) return std::string{};
    const auto prefix = "Failed to apply default image tag \"" + image +
                        "\": couldn't parse image name \"" + image + "\": ";
    REQUIRE(made.error().starts_with(prefix));
    return made.error().substr(prefix.size());
  };
  for (const auto* bad : {"",
                          "a b",
                          "web:",
                          "/web",
                          "a//b",
                          "a/",
                          "-a",
                          "a-",
                          "a..b",
                          "a___b",
                          "web:.x",
                          "a:b:c",
                          "web@",
                          "web@sha256:00",
                          "web@sha256",
                          "a_b:5000/web",
                          "-h.example/web",
                          "h.example:x/web",
                          "[::g]/web",
                          "web\n",
                          "w\xc3\xa9"
                          "b"})
    CHECK(problem(bad) == "invalid reference format");
  CHECK(problem("web:" + std::string(129, 'x')) == "invalid reference format");
  CHECK(problem("web:" + std::string(128, 'x')).empty());
  CHECK(problem("NGINX") ==
        "invalid reference format: repository name (library/NGINX) must be lowercase");
  CHECK(problem("reg.example/Team/web:1") ==
        "invalid reference format: repository name (Team/web) must be lowercase");
  CHECK(problem(hex) ==
        "invalid repository name (" + hex + "), cannot specify 64-byte hexadecimal strings");
  CHECK(problem("web@sha256:" + hex.substr(1)) == "invalid checksum digest length");
  CHECK(problem("web@sha256:" + std::string(64, 'A')) == "invalid checksum digest format");
  CHECK(problem("web@md5:" + hex) == "unsupported digest algorithm");
  CHECK(problem(std::string(256, 'a')) == "repository name must not be more than 255 characters");
}

TEST_CASE("credentials are those of the registry and the longest path", "[kubelet]") {
  // am9lOnNlY3JldDp4 is joe:secret:x.
  const auto all = docker_config(
      R"({"https://reg.example:5000/v2/":{"auth":"am9lOnNlY3JldDp4"},
          "reg.example:5000/team":{"username":"ann","password":"p"},
          "*.other.example":{"username":"eve","password":"p"}})");
  CHECK(users_for("reg.example:5000/team/web:1", {all}) == "ann:p joe:secret:x ");
  CHECK(users_for("reg.example:5000/web@sha256:00", {all}) == "joe:secret:x ");
  CHECK(users_for("reg.example/team/web", {all}).empty());
  CHECK(users_for("a.other.example/web", {all}) == "eve:p ");
  CHECK(users_for("a.b.other.example/web", {all}).empty());
  CHECK(users_for("nginx", {all}).empty());
}

TEST_CASE("images without a registry are of Docker's, by each of its names", "[kubelet]") {
  const auto docker = secret("kubernetes.io/dockercfg", ".dockercfg",
                             R"({"https://index.docker.io/v1/":{"username":"u","password":"p"}})");
  CHECK(users_for("nginx:1", {docker}) == "u:p ");
  CHECK(users_for("team/web", {docker}) == "u:p ");
  CHECK(users_for("docker.io/team/web", {docker}) == "u:p ");
  CHECK(users_for("localhost/web", {docker}).empty());
  const auto library = docker_config(R"({"docker.io/library":{"username":"l","password":"p"}})");
  CHECK(users_for("nginx", {docker, library}) == "l:p ");
  CHECK(users_for("team/web", {docker, library}) == "u:p ");
}

TEST_CASE("a secret that cannot be read is named, and nothing of it", "[kubelet]") {
  const std::string refusal = "the credentials in secret shop/regcred cannot be read";
  for (const auto* text :
       {"{", "[]", R"({"auths":{"a":{"auth":"cGxhaW4="}}})", R"({"auths":{"a":{"auth":"!"}}})"})
    CHECK(users_for("a/b", {secret("kubernetes.io/dockerconfigjson", ".dockerconfigjson", text)}) ==
          refusal);
  CHECK(users_for("a/b", {secret("Opaque", ".dockerconfigjson", "{")}).empty());
  CHECK(users_for("a/b", {secret("kubernetes.io/dockerconfigjson", "x", "{")}).empty());
}

TEST_CASE("a disk that is used above the high limit is freed to the low one", "[kubelet]") {
  CHECK(bytes_to_free({1'000, 160}, {}) == 0);
  CHECK(bytes_to_free({1'000, 150}, {}) == 50);
  CHECK(bytes_to_free({1'000, 0}, {}) == 200);
  CHECK(bytes_to_free({0, 0}, {}) == 0);
}

TEST_CASE("a disk that stays too full is described as upstream does", "[kubelet]") {
  CHECK(
      full_disk_text({std::int64_t{15} << 29, std::int64_t{3} << 28}, 5) ==
      "Insufficient free disk space on the node's image filesystem (90% of 7.5 GiB used). Failed "
      "to "
      "free sufficient space by deleting unused images (freed 5 bytes). Investigate disk usage, as "
      "it could be used by active images, logs, volumes, or other data.");
}

TEST_CASE("pulls of one namespace leave the turns of others free", "[kubelet]") {
  pull_turns turns;
  for (std::size_t i = 0; i < cri_defaults::pulls_of_namespace; ++i) {
    REQUIRE(turns.is_free("a"));
    turns.take("a");
  }
  CHECK_FALSE(turns.is_free("a"));
  CHECK(turns.is_free("b"));
  for (auto left = cri_defaults::pulls_at_once - cri_defaults::pulls_of_namespace; left > 0; --left)
    turns.take("n" + std::to_string(left));
  CHECK_FALSE(turns.is_free("b"));
  turns.release("a");
  CHECK(turns.is_free("a"));
  CHECK(turns.is_free("b"));
}

TEST_CASE("images are removed by last use, except those in use, pinned or new", "[kubelet]") {
  const std::vector<known_image> images{
      {"late", 100, false, now - 1h, now - 5min}, {"early", 100, false, now - 1h, now - 9min},
      {"kept", 100, true, now - 1h, now},         {"new", 100, false, now - 1min, {}},
      {"never-old", 100, false, now - 3h, {}},    {"never", 100, false, now - 2h, {}}};
  CHECK(removed(images, 0).empty());
  CHECK(removed(images, 1) == "never-old");
  CHECK(removed(images, 250) == "never-oldneverearly");
  CHECK(removed(images, 10'000) == "never-oldneverearlylate");
}

TEST_CASE("images that are unused for too long are removed, once the node knows for how long",
          "[kubelet]") {
  const std::vector<known_image> images{{"late", 1, false, now - 9h, now - 1h},
                                        {"early", 1, false, now - 9h, now - 3h},
                                        {"kept", 1, true, now - 9h, now - 3h},
                                        {"never", 1, false, now - 3h, {}},
                                        {"new", 1, false, now - 1h, {}}};
  const auto old = [&](std::chrono::milliseconds age, auto began) {
    std::string out;
    for (const auto& each : images_too_old(images, {.longest_age = age}, now, began))
      out += each.id + " ";
    return out;
  };
  CHECK(old(2h, now - 3h) == "early never ");
  CHECK(old(2h, now - 2h).empty());
  CHECK(old(0h, now - 9h).empty());
}

TEST_CASE("a node shows its largest images, with few names of each", "[kubelet]") {
  cri::ListImagesResponse listed;
  for (std::size_t i = 0; i < cri_defaults::images_of_node + 1; ++i) {
    auto& image = *listed.add_images();
    image.set_size(100 + i);
    image.add_repo_tags("image:" + std::to_string(i));
  }
  listed.add_images()->set_size(1'000);  // without a name
  auto& named = *listed.add_images();
  named.set_size(500);
  named.add_repo_digests("a@sha256:1");
  for (std::size_t i = 0; i < cri_defaults::names_of_image; ++i)
    named.add_repo_tags("a:" + std::to_string(i));
  const auto shown = images_to_show(listed);
  REQUIRE(shown.size() == cri_defaults::images_of_node);
  CHECK(shown[0].size_bytes == 500);
  CHECK(shown[0].names.size() == cri_defaults::names_of_image);
  CHECK(shown[0].names[0] == "a@sha256:1");
  CHECK(shown[1].names[0] == "image:50");
}

TEST_CASE("the image of sandboxes is that of the server's configuration", "[kubelet]") {
  cri::StatusResponse status;
  CHECK(sandbox_image_of(status).empty());
  (*status.mutable_info())["config"] = R"({"sandboxImage":"localhost/pause:1","other":{}})";
  CHECK(sandbox_image_of(status) == "localhost/pause:1");
  (*status.mutable_info())["config"] = "no json";
  CHECK(sandbox_image_of(status).empty());
}

TEST_CASE("the driver of control groups is that of the server's default runtime", "[kubelet]") {
  cri::StatusResponse status;
  const auto driver = [&status](const std::string& config) {
    (*status.mutable_info())["config"] = config;
    return group_driver_of(status);
  };
  CHECK_FALSE(group_driver_of(status));
  CHECK_FALSE(driver("no json"));
  CHECK_FALSE(driver(R"({"sandboxImage":"localhost/pause:1"})"));
  const std::string runtimes = R"("runtimes":{"runc":{"options":{"SystemdCgroup":true}},"b":{}})";
  CHECK(driver(R"({"containerd":{"defaultRuntimeName":"runc",)" + runtimes + "}}") ==
        group_driver::systemd);
  CHECK(driver(R"({"containerd":{"defaultRuntimeName":"b",)" + runtimes + "}}") ==
        group_driver::cgroupfs);
  CHECK(driver(R"({"containerd":{},"systemdCgroup":true})") == group_driver::systemd);
}
