// The memory limits of control groups, and a store that needs more.
#include "persistence/engine/memory_limit.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "persistence/fixture.hpp"

namespace troupe::persistence::testing {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream{path} << text;
}

TEST_CASE(
    "the smallest memory limit of a control group and those above it counts, version 1 or 2") {
  scratch_directory place;
  const fs::path proc = place.path("proc"), root = place.path("root");
  CHECK(memory_limit_bytes(proc, root) == std::nullopt);  // none of the files exists
  write(proc / "mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
        "41 31 0:38 /box /sys/fs/cgroup/unified rw shared:4 - cgroup2 cgroup2 rw\n");
  write(proc / "cgroup", "9:name=systemd:/\n4:cpu,memory:/a/b\n0::/box/c\n");
  const fs::path groups = root / "sys/fs/cgroup";
  write(groups / "memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  write(groups / "unified/c/memory.max", "max\n");
  CHECK(memory_limit_bytes(proc, root) == std::nullopt);
  write(groups / "memory/a/memory.limit_in_bytes", "300000000\n");
  CHECK(memory_limit_bytes(proc, root) == 300'000'000);
  write(groups / "unified/c/memory.max", "200000000\n");
  CHECK(memory_limit_bytes(proc, root) == 200'000'000);
  write(groups / "memory/memory.limit_in_bytes", "100000000\n");
  CHECK(memory_limit_bytes(proc, root) == 100'000'000);
}

TEST_CASE("a store that needs more memory than its limit reports the needed amount") {
  scratch_directory place;
  auto options = in_directory(place.path());
  {
    const auto store = open(options);
    for (int i = 0; i < 100; ++i)
      must(commit(*store, just(put(std::to_string(i), "v", 1'000'000))));
  }
  options.memory_limit_bytes = 100 << 20;
  const auto refused = store::open(options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::no_memory);
  CHECK_THAT(refused.error().message,
             Catch::Contains("100 objects of 95 MiB") && Catch::Contains("may use 100 MiB"));
  options.memory_limit_bytes = 400 << 20;
  CHECK(open(options)->stats().objects == 100);
}

TEST_CASE("an object that an actor represents needs memory for the actor, too") {
  const auto fill = [](const std::string& directory, const api::kind_info& kind, const auto& make) {
    const auto store = open(in_directory(directory));
    for (int part = 0; part < 20; ++part) {
      transaction all;
      for (int i = 0; i < 100; ++i) {
        auto content = make();
        const auto name = std::to_string(part) + "-" + std::to_string(i);
        api::meta_of(*content).set_name(name);
        api::meta_of(*content).set_namespace_("default");
        all.mutations.push_back({kind.key("default", name), &kind, std::move(content)});
      }
      must(commit(*store, std::move(all)));
    }
  };
  scratch_directory place;
  using api::core::v1::ConfigMap, api::core::v1::Pod;
  fill(place.path("maps"), api::kind_of<ConfigMap>(), [] { return std::make_unique<ConfigMap>(); });
  fill(place.path("pods"), api::kind_of<Pod>(), [] { return std::make_unique<Pod>(); });
  auto options = in_directory(place.path("maps"));
  options.memory_limit_bytes = 30 << 20;
  CHECK(open(options)->stats().objects == 2'000);
  options.directory = place.path("pods");
  CHECK(store::open(options).error().code == errc::no_memory);
  options.memory_limit_bytes = 40 << 20;
  CHECK(open(options)->stats().objects == 2'000);
}

TEST_CASE("repeatedly overwritten objects need no additional memory") {
  scratch_directory place;
  auto options = in_directory(place.path());
  {
    const auto store = open(options);
    for (int i = 0; i < 150; ++i)
      must(commit(*store, just(put("a", std::to_string(i), 1'000'000))));
  }
  options.memory_limit_bytes = 60 << 20;
  CHECK(open(options)->stats().objects == 1);
}

}  // namespace
}  // namespace troupe::persistence::testing
