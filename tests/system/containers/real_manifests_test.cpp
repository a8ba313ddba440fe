// Manifests that others have written, with images from a registry of the test: as they are, with
// their images' names and pull policies.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "build_paths.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/containers/container_machine.hpp"
#include "system/containers/image_registry.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

const std::filesystem::path manifests_of_today{TROUPE_SOURCE_DIR "/../shared/data/today"};

// What their images do here, and the repositories of those that do it.
struct stand_in {
  std::string program;  // empty: busybox's shell, which ends
  std::vector<std::string> repositories;
};
const std::vector<stand_in> stand_ins{
    {"httpd -p 80 -h /www", {"library/nginx", "nginx", "google_samples/gb-frontend"}},
    {"httpd -p 6379 -h /www", {"google_samples/gb-redisslave"}},
    {"httpd -p 8080 -h /www", {"aronchick/hello-node"}},
    {":", {"pause", "perl"}},
    {"", {"library/busybox"}}};

void serve_stand_ins(image_registry& registry, const std::filesystem::path& folder) {
  const auto root = (folder / "web").string();
  // Probes of one manifest read the file.
  REQUIRE(shell(fmt::format("cp -a {0}/tools {1} && mkdir {1}/www && echo served > "
                            "{1}/www/index.html && touch {1}/probe",
                            folder.string(), root))
              .code == 0);
  int number = 0;
  for (const auto& each : stand_ins) {
    const auto archive = folder / fmt::format("stand-in-{}.tar", ++number);
    const auto command =
        each.program.empty()
            ? std::string{R"("Cmd":["sh"])"}
            : fmt::format(R"("Cmd":["sh","-c","trap 'exit 0' TERM; {}; sleep 2147483647 & wait"])",
                          each.program);
    write_file(folder / "image-config", fmt::format(R"({{{},"Env":["PATH=/bin"]}})", command));
    const auto made =
        shell(fmt::format("{0}/tests/system/containers/make-image stand.in/{1}:1 {2} "
                          "\"$(cat {3}/image-config)\" {4} 2>&1",
                          TROUPE_SOURCE_DIR, number, root, folder.string(), archive.string()));
    INFO(made.output);
    REQUIRE(made.code == 0);
    for (const auto& repository : each.repositories)
      registry.add(repository, archive);
  }
}

}  // namespace

TEST_CASE("real manifests of today come to Running from images, and serve", "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  if (!std::filesystem::exists(manifests_of_today))
    return skip(manifests_of_today.string() + " does not exist");
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.18.0/24"};
  image_registry registry{folder.path() / "registry"};
  serve_stand_ins(registry, on.runtime.folder());
  registry.replace_all(on.runtime.folder());
  // The second revision of a deployment comes after the first.
  const auto applied = on.run(
      fmt::format("for each in $(ls {0} | grep -v ^invalid-); do kubectl apply -f {0}/$each || "
                  "exit 1; done",
                  manifests_of_today.string()));
  INFO(applied.output);
  REQUIRE(applied.code == 0);
  const std::string phases =
      "kubectl get pods --no-headers | awk '{print $2, $3}' | sort | uniq -c | sed 's/^ *//'";
  const std::string all_ready = "18 1/1 Running\n3 2/2 Running\n";
  const auto reached = on.until(phases, all_ready);
  INFO(on.run("kubectl get pods; kubectl get events | tail -n 40").output);
  CHECK((reached == all_ready || on.until(phases, all_ready) == all_ready));
  for (const auto* label : {"app=list-deployment-test", "name=nginx-undo", "tier=frontend"}) {
    INFO(label);
    const auto ip =
        on.run(fmt::format("kubectl get pods -l {} -o jsonpath={{.items[0].status.podIP}}", label))
            .output;
    CHECK(on.run(fmt::format("curl -s http://{}/", ip)).output == "served\n");
  }
  CHECK(on.run("kubectl delete deployments,rs,rc,ds --all").code == 0);
  CHECK(on.run("kubectl delete pods --all --grace-period=1").code == 0);
  CHECK(on.until("kubectl get pods -o name", "") == "");
}
