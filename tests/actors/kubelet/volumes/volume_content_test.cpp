// The content of volumes made from API objects.
#include "actors/kubelet/volumes/volume_content.hpp"

#include <catch2/catch.hpp>

#include "actors/access/pod_references.hpp"
#include "actors/kubelet/runtimes/process/mount_points.hpp"
#include "actors/kubelet/volumes/token_lifetime.hpp"
#include "api/codec/codec.hpp"
#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Pod;

namespace {

// A pod with one volume, whose source is given as YAML.
Pod pod_with(const std::string& source) {
  auto decoded = api::decode(
      "metadata: {name: web, namespace: shop, uid: u, labels: {b: '2', a: "
      "\"say \\\"hi\\\"\"}}\nspec:\n  containers:\n  - {name: c, "
      "resources: {requests: {memory: 64Mi}}}\n  volumes:\n  - name: v\n" +
          source,
      api::media::yaml, &api::kind_of<Pod>());
  REQUIRE(decoded);
  return static_cast<const Pod&>(*decoded->content);
}

// A config map "settings" {a: 1, b: 2, binary c} and a secret "keys" {k: s3cret}.
api::object_ptr read(const std::string& key) {
  if (key == "/registry/configmaps/shop/settings") {
    auto map = std::make_unique<api::core::v1::ConfigMap>();
    (*map->mutable_data())["a"] = "1";
    (*map->mutable_data())["b"] = "2";
    (*map->mutable_binary_data())["c"] = std::string{"\0\xff", 2};
    return std::make_shared<api::object>(api::kind_of<api::core::v1::ConfigMap>(), std::move(map),
                                         1);
  }
  if (key != "/registry/secrets/shop/keys") return nullptr;
  auto secret = std::make_unique<api::core::v1::Secret>();
  (*secret->mutable_data())["k"] = "s3cret";
  return std::make_shared<api::object>(api::kind_of<api::core::v1::Secret>(), std::move(secret), 1);
}

// "path=content", with the mode if it is not 0644.
tl::expected<std::vector<std::string>, std::string> made(const std::string& source) {
  const auto pod = pod_with(source);
  const auto files = volume_files(pod, pod.spec().volumes(0).volume_source(), read,
                                  {{{"", 3'600}, "t0ken"}, {{"vault", 900}, "t1ken"}});
  if (!files) return tl::make_unexpected(files.error());
  std::vector<std::string> lines;
  for (const auto& file : *files)
    lines.push_back(file.path + "=" + file.content +
                    (file.mode == 0644 ? "" : " " + std::to_string(file.mode)));
  return lines;
}

using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a config map gives all its keys, or those that are chosen", "[kubelet]") {
  CHECK(made("    configMap: {name: settings}\n") ==
        lines{"a=1", "b=2", std::string{"c=\0\xff", 4}});
  CHECK(made("    configMap: {name: settings, defaultMode: 256, items: [{key: b, path: x/y}, "
             "{key: a, path: z, mode: 384}]}\n") == lines{"x/y=2 256", "z=1 384"});
  CHECK(made("    configMap: {name: settings, items: [{key: none, path: x}]}\n").error() ==
        "configmap \"settings\" references non-existent key: none");
  CHECK(made("    configMap: {name: settings, optional: true, items: [{key: none, path: x}]}\n") ==
        lines{});
  CHECK(made("    configMap: {name: other}\n").error() == "configmap \"other\" not found");
  CHECK(made("    configMap: {name: other, optional: true}\n") == lines{});
}

TEST_CASE("secrets, the downward API and projected sources become files", "[kubelet]") {
  CHECK(made("    secret: {secretName: keys, defaultMode: 256}\n") == lines{"k=s3cret 256"});
  CHECK(made("    secret: {secretName: none}\n").error() == "secret \"none\" not found");
  CHECK(made("    downwardAPI:\n      items:\n"
             "      - {path: name, fieldRef: {fieldPath: metadata.name}}\n"
             "      - {path: labels, fieldRef: {fieldPath: metadata.labels}}\n"
             "      - {path: mem, resourceFieldRef: {containerName: c, resource: requests.memory, "
             "divisor: 1Mi}}\n") ==
        lines{"labels=a=\"say \\\"hi\\\"\"\nb=\"2\"", "mem=64", "name=web"});
  CHECK(made("    projected:\n      sources:\n      - configMap: {name: settings}\n"
             "      - secret: {name: keys, items: [{key: k, path: a}]}\n"
             "      - serviceAccountToken: {path: token}\n") ==
        lines{"a=s3cret", "b=2", std::string{"c=\0\xff", 4}, "token=t0ken"});
}

TEST_CASE("each token of a volume is the one for its audience and life", "[kubelet]") {
  CHECK(
      made("    projected:\n      defaultMode: 288\n      sources:\n"
           "      - serviceAccountToken: {path: token}\n"
           "      - serviceAccountToken: {path: v/t, audience: vault, expirationSeconds: 900}\n") ==
      lines{"token=t0ken 288", "v/t=t1ken 288"});
  CHECK(made("    projected:\n      sources:\n"
             "      - serviceAccountToken: {path: token, audience: other}\n")
            .error() == "failed to fetch token: there is none yet");
}

TEST_CASE("a token is its user's to read where the pod has one user", "[kubelet]") {
  auto pod = pod_with(
      "    projected:\n      sources:\n      - serviceAccountToken: {path: token}\n"
      "      - configMap: {name: settings, items: [{key: a, path: a}]}\n");
  const auto files = [&] {
    auto all =
        volume_files(pod, pod.spec().volumes(0).volume_source(), read, {{{"", 3'600}, "t0ken"}});
    REQUIRE(all);
    return *all;
  };
  CHECK(files()[1].mode == 0644);
  CHECK_FALSE(files()[1].owner);
  pod.mutable_spec()->mutable_security_context()->set_run_as_user(1'000);
  CHECK(files()[1].mode == 0600);
  CHECK(files()[1].owner == 1'000);
  CHECK(files()[0].mode == 0644);
  auto& second = *pod.mutable_spec()->add_containers();
  second.mutable_security_context()->set_run_as_user(2'000);
  CHECK(files()[1].mode == 0644);
  CHECK_FALSE(files()[1].owner);
  pod.mutable_spec()->mutable_security_context()->set_fs_group(7);
  CHECK(files()[1].mode == 0600);  // the group may read it too: volume_group.hpp
  CHECK_FALSE(files()[1].owner);
}

TEST_CASE("a token is asked for again at 80 % of its life, or after a day", "[kubelet]") {
  using std::chrono::seconds;
  std::mt19937_64 random{1};
  for (int round = 0; round < 1'000; ++round) {
    const auto hour = token_use(3'600, random);
    CHECK((hour <= seconds{2'880} && hour >= seconds{2'870}));
    const auto year = token_use(365 * 86'400, random);
    CHECK((year <= seconds{86'400} && year >= seconds{86'390}));
    CHECK(token_use(0, random) > seconds{0});
  }
}

TEST_CASE("no file of a volume has a path out of it", "[kubelet]") {
  for (const char* path : {"../x", "/x", "a/../../x", "..data", "a/.."}) {
    CAPTURE(path);
    const auto files = made("    configMap: {name: settings, items: [{key: a, path: \"" +
                            std::string{path} + "\"}]}\n");
    REQUIRE_FALSE(files);
    CHECK(files.error() == "path \"" + std::string{path} + "\" leads out of the volume");
  }
}

TEST_CASE("a digest differs for another name, mode or byte", "[kubelet]") {
  const std::vector<std::vector<volume_file>> all = {{},
                                                     {{"a", "1"}},
                                                     {{"a", "2"}},
                                                     {{"b", "1"}},
                                                     {{"a", "1", 0600}},
                                                     {{"a", "1b"}},
                                                     {{"a1", "b"}},
                                                     {{"a", "1"}, {"b", ""}},
                                                     {{"a", ""}, {"b", "1"}}};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < all.size(); ++k)
      CHECK((digest_of(all[i]) == digest_of(all[k])) == (i == k));
}

TEST_CASE("objects that a pod's volumes name are among its references", "[kubelet]") {
  CHECK(referenced_keys(pod_with("    projected: {sources: [{configMap: {name: m}}, {secret: "
                                 "{name: s}}]}\n")) ==
        lines{"/registry/configmaps/shop/m", "/registry/secrets/shop/s"});
  CHECK(referenced_keys(pod_with("    secret: {secretName: keys}\n")) ==
        lines{"/registry/secrets/shop/keys"});
  CHECK(referenced_keys(pod_with("    emptyDir: {}\n  imagePullSecrets: [{name: regcred}]\n")) ==
        lines{"/registry/secrets/shop/regcred"});
  CHECK(volume_variable("my-data.1") == "TROUPE_VOLUME_MY_DATA.1");
}

TEST_CASE("mounts are ordered from the outermost to the innermost", "[kubelet]") {
  std::vector<container_mount> mounts{
      {"s", "", "/data/inner", false}, {"s", "", "/etc/x", false}, {"s", "", "/data", false}};
  order_mounts(mounts);
  CHECK(mounts[0].target == "/data");
  CHECK(mounts[1].target == "/data/inner");
}

}  // namespace troupe::actors
