// Hostile network traffic to a node, all of it at once: the node survives, its memory is bounded,
// and a well-behaved client does not notice.
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <vector>

#include "support/http_client.hpp"
#include "support/sanitizer.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/node.hpp"

using namespace troupe::test;
using namespace std::literals;

namespace {

const std::string maps = "/api/v1/namespaces/default/configmaps";
const http_client::fields json{{"content-type", "application/json"}};
const std::vector<std::string> flags{"--runtime", "simulated", "--log-level", "error"};

std::string map_json(const std::string& name, std::size_t bytes) {
  return R"({"metadata":{"name":")" + name + R"("},"data":{"k":")" + std::string(bytes, 'x') +
         R"("}})";
}

// False if the system does not allow that many descriptors.
bool descriptors(rlim_t count) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max >= count;
}

void report(const char* label, std::size_t before, std::size_t after) {
  std::cout << "strangers: " << label << ": " << before / 1024 << " MB -> " << after / 1024
            << " MB resident" << std::endl;
}

// The memory in KB of each idle connection after its handshake and one request: of the second half,
// because a slow node still uses more memory for its start during the first.
double idle(const node& served, std::size_t count) {
  auto where = served.where();
  where.authority.clear();
  std::vector<std::unique_ptr<http_client>> crowd;
  http_client first{where};
  REQUIRE(first.get("/version").status == 200);
  std::size_t before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i == count / 2) before = resident_kb(served.id());
    crowd.push_back(std::make_unique<http_client>(where));
    REQUIRE(crowd.back()->get("/version").status == 200);
  }
  const auto after = resident_kb(served.id());
  report((std::to_string(count / 2) + " more idle connections").c_str(), before, after);
  CHECK(http_client{served.where()}.get(maps).status == 200);
  return (static_cast<double>(after) - static_cast<double>(before)) /
         static_cast<double>(count - count / 2);
}

}  // namespace

TEST_CASE("garbage and half-open connections cost a node nothing permanently") {
  const scratch_folder folder;
  const node served{folder.path() / "node", flags};
  http_client friendly{served.where()};
  REQUIRE(friendly.get(maps).status == 200);
  const auto before = resident_kb(served.id());
  auto raw = served.where();
  raw.tls = false;
  std::vector<std::unique_ptr<wire>> open;
  for (int i = 0; i < 300; ++i) {
    open.push_back(std::make_unique<wire>(raw));  // sends nothing
    open.push_back(std::make_unique<wire>(raw));
    open.back()->send("\x16\x03\x01\x02");  // an incomplete handshake
    wire garbage{raw};
    garbage.send(std::string(200, static_cast<char>(i)));
    garbage.end_sending();
  }
  auto half = served.where();
  std::vector<std::unique_ptr<http_client>> half_requests;
  for (int i = 0; i < 100; ++i) {
    half_requests.push_back(std::make_unique<http_client>(half));
    half_requests.back()->connection().send("POST " + maps + " HTTP/1.1\r\nHost: x\r\nContent-Le");
  }
  CHECK(friendly.get(maps).status == 200);
  CHECK(friendly.request("POST", maps, map_json("a", 10), json).status == 201);
  const auto after = resident_kb(served.id());
  report("garbage, 600 half-open connections, 100 half requests", before, after);
  if (memory_is_the_programs()) CHECK(after < before + 40'000);
}

// A browser sends no token by itself: a page from another name has only anonymous rights, whether
// its name resolves to this node (DNS rebinding) or it requests across origins.
TEST_CASE("a web page whose name resolves to the node gets nothing of its console") {
  const scratch_folder folder;
  const node served{folder.path() / "node", flags};
  auto where = served.where();
  where.certificate.clear();
  where.private_key.clear();
  for (const std::string method : {"GET", "POST", "OPTIONS"})
    for (const auto& path : {"/console/api/actors"s, "/console/api/top"s, "/metrics"s, maps}) {
      http_client page{where};
      page.connection().send(method + " " + path +
                             " HTTP/1.1\r\nHost: rebound.example:" + std::to_string(served.port()) +
                             "\r\nOrigin: https://rebound.example\r\nContent-Length: 0\r\n"
                             "Access-Control-Request-Method: GET\r\n"
                             "Access-Control-Request-Headers: authorization\r\n\r\n");
      const auto answer = page.receive_answer();
      INFO(method << " " << path << ": " << answer.body);
      CHECK((answer.status == 401 || answer.status == 403));
      CHECK(answer.header("access-control-allow-origin").empty());
      CHECK(answer.header("access-control-allow-headers").empty());
    }
}

TEST_CASE("watchers that do not read cost a bounded buffer each and delay no other client") {
  const scratch_folder folder;
  const node served{folder.path() / "node", flags};
  http_client friendly{served.where()};
  REQUIRE(friendly.get(maps).status == 200);
  auto slow = served.where();
  slow.receive_buffer_bytes = 4096;
  std::vector<std::unique_ptr<http_client>> sleepers;
  for (int i = 0; i < 50; ++i) {
    sleepers.push_back(std::make_unique<http_client>(slow));
    sleepers.back()->send_request("GET", maps + "?watch=true");
    REQUIRE(sleepers.back()->receive_head().status == 200);
  }
  const auto before = resident_kb(served.id());
  // 40 MB for each of them: 2 GB if they were buffered.
  for (int i = 0; i < 400; ++i)
    REQUIRE(
        friendly.request("POST", maps, map_json("m" + std::to_string(i), 100'000), json).status ==
        201);
  const auto after = resident_kb(served.id());
  report("50 watchers that do not read, 40 MB of changes", before, after);
  // The objects themselves stay in memory, in two forms at most, and in the store's own buffers.
  if (memory_is_the_programs()) CHECK(after < before + 300'000);
}

TEST_CASE(
    "ten thousand watchers that do not read cost a bounded buffer each and delay no other client",
    "[.long]") {
  if (!descriptors(11'000)) {
    troupe::test::skip("fewer than 11,000 file descriptors");
    return;
  }
  const scratch_folder folder;
  const node served{folder.path() / "node", flags};
  http_client friendly{served.where()};
  int number = 0;
  // Changes of 10 KB and gets; the 99th percentile of each, in milliseconds.
  const auto measure = [&](const char* label) {
    std::vector<double> writes, reads;
    const auto timed = [](std::vector<double>& into, auto action) {
      const auto began = std::chrono::steady_clock::now();
      action();
      into.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
              .count());
    };
    for (int i = 0; i < 300; ++i) {
      const auto name = "m" + std::to_string(number++);
      timed(writes, [&] {
        REQUIRE(friendly.request("POST", maps, map_json(name, 10'000), json).status == 201);
      });
      timed(reads, [&] { REQUIRE(friendly.get(maps + "/" + name).status == 200); });
    }
    for (auto* each : {&writes, &reads})
      std::sort(each->begin(), each->end());
    std::cout << "strangers: " << label << ": writes p50 " << writes[150] << " p99 " << writes[296]
              << " ms, reads p50 " << reads[150] << " p99 " << reads[296] << " ms" << std::endl;
    return reads[296];
  };
  measure("alone");
  auto slow = served.where();
  slow.receive_buffer_bytes = 4096;
  slow.authority.clear();
  std::vector<std::unique_ptr<http_client>> sleepers;
  const auto before = resident_kb(served.id());
  for (int i = 0; i < 10'000; ++i) {
    sleepers.push_back(std::make_unique<http_client>(slow));
    sleepers.back()->send_request("GET", maps + "?watch=true&resourceVersion=1");
    REQUIRE(sleepers.back()->receive_head().status == 200);
  }
  report("10,000 watchers that do not read, and the 3 MB that are there", before,
         resident_kb(served.id()));
  measure("with them, first");
  const auto last = measure("with them, when they are full");
  const auto after = resident_kb(served.id());
  report("the same, and 6 MB of changes", before, after);
  if (memory_is_the_programs()) CHECK((after - before) / 10'000 < 100);  // KB each
  CHECK(last < 100);
}

TEST_CASE("a thousand idle connections cost at most 30 KB each") {
  if (!descriptors(2'000)) return troupe::test::skip("fewer than 2,000 file descriptors");
  const scratch_folder folder;
  const node served{folder.path() / "node", flags};
  const auto each = idle(served, 1'000);
  if (memory_is_the_programs()) CHECK(each < 30);
}

TEST_CASE("ten thousand idle connections cost at most 30 KB each", "[.long]") {
  if (!descriptors(11'000)) {
    troupe::test::skip("fewer than 11,000 file descriptors");
    return;
  }
  const scratch_folder folder;
  const node served{folder.path() / "node", flags};
  CHECK(idle(served, 10'000) < 30);
}
