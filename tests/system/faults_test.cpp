// A node that cannot start reports why in one line and exits with 1; it changes no data, and a
// later node that can start continues with the data.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>

#include "build_paths.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "support/http_client.hpp"
#include "support/programs/eventually.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"
#include "system/private_mount.hpp"

namespace fs = std::filesystem;
using namespace troupe::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

const std::vector<std::string> flags{"--runtime", "simulated", "--log-level", "error"};

struct refusal {
  int code = 0;
  std::string line;  // the only one; "N lines: ..." otherwise
};

// A node that is expected not to start.
refusal refused(const fs::path& data, const std::string& listen = "127.0.0.1:0") {
  const auto ran =
      shell("timeout 60 " TROUPE_BINARY_DIR "/troupe node --data-dir " + data.string() +
            " --listen " + listen + " --runtime simulated --log-level error 2>&1");
  std::istringstream lines{ran.output};
  refusal out{ran.code, {}};
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    out.line = line;
  if (count != 1) out.line = std::to_string(count) + " lines: " + ran.output;
  return out;
}

const std::string maps = "/api/v1/namespaces/default/configmaps";

int put(const node& to, const std::string& name, std::size_t bytes = 1) {
  http_client client{to.where()};
  return client
      .request("POST", maps,
               R"({"metadata":{"name":")" + name + R"("},"data":{"k":")" + std::string(bytes, 'x') +
                   R"("}})",
               {{"content-type", "application/json"}})
      .status;
}

int look(const node& at, const std::string& path) {
  return http_client{at.where()}.get(path).status;
}

// A data dir with the config map "kept" in it.
fs::path used_data(const scratch_folder& folder) {
  const auto data = folder.path() / "data";
  const node first{data, flags};
  REQUIRE(put(first, "kept") == 201);
  return data;
}

// It is created concurrently with the node's start.
bool has_reserve(const fs::path& data) {
  return eventually([&] {
    std::error_code none;
    return fs::file_size(data / "store/RESERVE", none) > 0 && !none;
  });
}

// Fills a disk.
void fill(const fs::path& disk) {
  std::ofstream filler{disk / "filler", std::ios::binary};
  const std::string block(4 << 10, 'f');
  while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
  }
}

bool goes_on(const fs::path& data) {
  const node next{data, flags};
  return look(next, maps + "/kept") == 200 && put(next, "more") == 201;
}

}  // namespace

TEST_CASE("a port in use is named, and the node that has it goes on") {
  const scratch_folder folder;
  const node first{folder.path() / "first", flags};
  const auto address = "127.0.0.1:" + std::to_string(first.port());
  const auto data = used_data(folder);
  const auto second = refused(data, address);
  CHECK(second.code == 1);
  CHECK_THAT(second.line, Catch::StartsWith("troupe: ") && Contains(address) && Contains("in use"));
  CHECK(put(first, "a") == 201);
  CHECK(goes_on(data));
}

TEST_CASE("a second node on a data dir learns which process uses it") {
  const scratch_folder folder;
  const auto data = used_data(folder);
  {
    const node first{data, flags};
    const auto second = refused(data);
    CHECK(second.code == 1);
    CHECK_THAT(second.line,
               Contains(data.string()) && Contains("process " + std::to_string(first.id())));
    CHECK(put(first, "a") == 201);
  }
  CHECK(goes_on(data));
}

TEST_CASE("a data dir of another format version is left as it is") {
  const scratch_folder folder;
  const auto data = used_data(folder);
  const auto set_format = [&](const std::string& version) {
    using namespace troupe::persistence;
    auto disk = rocks_engine_in((data / "store").string())(open_mode::strict);
    REQUIRE(disk);
    const auto was = (*disk)->get(table::meta, "format");
    REQUIRE((was && *was));
    auto rows = (*disk)->make_batch();
    rows->put(table::meta, "format", version);
    REQUIRE((*disk)->write(*rows, durability::synced));
    return **was;
  };
  const auto ours = set_format("77");
  const auto later = refused(data);
  CHECK(later.code == 1);
  CHECK_THAT(later.line, Contains("format 77") && Contains((data / "store").string()));
  set_format(ours);
  CHECK(goes_on(data));
}

TEST_CASE("a read-only data dir is refused") {
  if (!private_mount::possible()) return;
  const scratch_folder folder;
  const auto data = used_data(folder);
  {
    const private_mount locked{folder.path() / "locked", "-o bind,ro " + data.string()};
    const auto node = refused(locked.path());
    CHECK(node.code == 1);
    CHECK_THAT(node.line, Contains(locked.path().string()) && Contains("Read-only file system"));
  }
  CHECK(goes_on(data));
}

// As the kernel does after a disk error, with files that are open for writing.
TEST_CASE("a file system that becomes read-only under a node takes reads, and loses nothing") {
  if (!private_mount::possible()) return;
  const scratch_folder folder;
  const auto image = (folder.path() / "image").string();
  std::ofstream{image};
  fs::resize_file(image, 64 << 20);
  if (shell("mkfs.ext4 -q " + image + " 2>/dev/null").code != 0) return skip("no mkfs.ext4");
  std::unique_ptr<private_mount> disk;
  const auto mount = [&] {
    disk = std::make_unique<private_mount>(folder.path() / "disk",
                                           "-o loop,errors=remount-ro " + image);
  };
  try {
    mount();
  } catch (const std::runtime_error& problem) {
    return skip(problem.what());
  }
  int taken = 0;
  const auto name = [](int number) { return "m" + std::to_string(number); };
  {
    node on{disk->path() / "data", flags};
    for (; taken < 20; ++taken)
      REQUIRE(put(on, name(taken), 10'000) == 201);
    struct stat found {};
    REQUIRE(::stat(disk->path().c_str(), &found) == 0);
    const auto device = fs::read_symlink(
        fmt::format("/sys/dev/block/{}:{}", major(found.st_dev), minor(found.st_dev)));
    std::ofstream{"/sys/fs/ext4" / device.filename() / "trigger_fs_error"} << "a test\n";
    int status = 201;
    for (; taken < 100 && (status = put(on, name(taken), 10'000)) == 201;)
      ++taken;
    CHECK(status >= 500);
    CHECK(look(on, maps + "/" + name(taken - 1)) == 200);
    CHECK(look(on, "/readyz") == 500);
    CHECK(put(on, "late") >= 500);
  }
  const auto full = refused(disk->path() / "data");
  CHECK(full.code == 1);
  CHECK_THAT(full.line, Contains("Read-only file system"));
  disk.reset();
  REQUIRE(shell("fsck.ext4 -fy " + image + " >/dev/null 2>&1").code <= 1);
  mount();
  const node next{disk->path() / "data", flags};
  for (int i = 0; i < taken; ++i)
    CHECK(look(next, maps + "/" + name(i)) == 200);
  CHECK(put(next, "late") == 201);
}

TEST_CASE("a full disk takes deletes but no creates, also after kill -9, and lets them on again") {
  if (!private_mount::possible()) return;
  const scratch_folder folder;
  const private_mount small{folder.path() / "small", "-t tmpfs -o size=96m none"};
  const auto data = small.path() / "data";
  int taken = 0;
  {
    node full{data, flags};
    for (; taken < 20; ++taken)
      REQUIRE(put(full, "m" + std::to_string(taken), 10'000) == 201);
    REQUIRE(has_reserve(data));
    fill(small.path());
    int status = 201;
    while (taken < 4'000 && (status = put(full, "m" + std::to_string(taken), 10'000)) == 201)
      ++taken;
    INFO(taken << " writes, then " << status);
    CHECK(status >= 500);
    CHECK(eventually([&] { return put(full, "late", 10'000) == 507; }));
    http_client client{full.where()};
    const auto answer = client.request("POST", maps, R"({"metadata":{"name":"late"}})",
                                       {{"content-type", "application/json"}});
    INFO(answer.body);
    CHECK_THAT(answer.body, Contains("\"kind\":\"Status\"") && Contains("InsufficientStorage") &&
                                Contains("delete objects"));
    CHECK(client.request("DELETE", maps + "/m0").status == 200);
    CHECK(look(full, maps + "?limit=1") == 200);
    CHECK(look(full, "/readyz") == 200);
    CHECK(refused(data).code == 1);  // the first one still holds the data dir
    full.signal(SIGKILL);
    CHECK(full.wait(60s) == -SIGKILL);
  }
  {
    const node next{data, flags};
    CHECK(look(next, maps + "/m0") == 404);
    for (int i = 1; i < taken; ++i)
      CHECK(look(next, maps + "/m" + std::to_string(i)) == 200);
    CHECK(put(next, "late", 10'000) == 507);
    CHECK(http_client{next.where()}.request("DELETE", maps + "/m1").status == 200);
    fs::remove(small.path() / "filler");
    CHECK(eventually([&] { return put(next, "again") == 201; }));
  }
  const node last{data, flags};
  CHECK(look(last, maps + "/m2") == 200);
  CHECK(look(last, maps + "/again") == 200);
}

TEST_CASE("a start with an unusable store makes no keys, and keeps existing ones") {
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  fs::create_directories(data);
  write_file(data / "store", "no directory");
  CHECK(refused(data).code == 1);
  CHECK_FALSE(fs::exists(data / "pki"));
  fs::remove(data / "store");
  {
    const node first{data, flags};
    REQUIRE(put(first, "kept") == 201);
  }
  const auto authority = read_file(data / "pki/ca.crt");
  fs::rename(data / "store", data / "aside");
  write_file(data / "store", "no directory");
  CHECK(refused(data).code == 1);
  CHECK(read_file(data / "pki/ca.crt") == authority);
  fs::remove(data / "store");
  fs::rename(data / "aside", data / "store");
  CHECK(goes_on(data));
}

TEST_CASE(
    "a node does not start on a full disk without its reserve, and does when there is space") {
  if (!private_mount::possible()) return;
  const scratch_folder folder;
  const private_mount small{folder.path() / "small", "-t tmpfs -o size=96m none"};
  const auto data = small.path() / "data";
  {
    const node first{data, flags};
    REQUIRE(put(first, "kept") == 201);
    REQUIRE(has_reserve(data));
  }
  fs::remove(data / "store/RESERVE");
  fill(small.path());
  const auto full = refused(data);
  CHECK(full.code == 1);
  CHECK_THAT(full.line, Contains("no space left on the device"));
  fs::remove(small.path() / "filler");
  CHECK(goes_on(data));
}
