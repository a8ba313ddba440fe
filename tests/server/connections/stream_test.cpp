// Endless answers: order, credit, ends from both sides, slow readers.
#include <catch2/catch.hpp>

#include "server/fixtures/http_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using namespace std::chrono_literals;
using test::http2_client;
using test::http_client;

namespace {

// A path with streams that the test writes.
struct watch_route {
  explicit watch_route(test_server& server) {
    server.site.admission = [](server::request& head) -> std::optional<server::response> {
      head.long_running = true;
      return std::nullopt;
    };
    server.site.on("/watch", [this](auto&, auto& answer) {
      server::response head;
      head.content_type = "application/json";
      head.content.add_static("first;");
      const std::lock_guard lock{mutex};
      streams.push_back(
          answer.start_stream(std::move(head), {[this] { ++writable; }, [this] { ++closed; }}));
    });
  }
  ~watch_route() { streams.clear(); }

  server::stream wait_for(std::size_t count) {
    REQUIRE(eventually([&] {
      const std::lock_guard lock{mutex};
      return streams.size() >= count;
    }));
    const std::lock_guard lock{mutex};
    return streams[count - 1];
  }

  std::mutex mutex;
  std::vector<server::stream> streams;
  std::atomic<int> writable{0};
  std::atomic<int> closed{0};
};

}  // namespace

TEST_CASE("bytes written to a stream arrive in order and at once, also from another thread") {
  test_server server;
  watch_route watch{server};
  http_client client{server.client()};
  client.send_request("GET", "/watch");
  const auto head = client.receive_head();
  CHECK(head.status == 200);
  CHECK(head.header("transfer-encoding") == "chunked");
  CHECK(head.header("content-length").empty());
  CHECK(client.next_chunk() == "first;");
  const auto stream = watch.wait_for(1);
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(stream.write("event " + std::to_string(i)));
    REQUIRE(client.next_chunk() == "event " + std::to_string(i));
  }
  std::string all, expected;
  for (int i = 0; i < 1000; ++i) {
    stream.write(std::to_string(i) + ";");
    expected += std::to_string(i) + ";";
  }
  stream.close();
  CHECK_FALSE(stream.write("too late"));
  while (const auto chunk = client.next_chunk())
    all += *chunk;
  CHECK(all == expected);
  CHECK(eventually([&] { return watch.closed == 1; }));
  CHECK_FALSE(stream.open());
  CHECK(client.get("/hello").status == 200);
}

TEST_CASE("a stream over HTTP/2 arrives in order and ends properly") {
  test_server server;
  watch_route watch{server};
  http2_client client{server.client()};
  const auto id = client.start("GET", "/watch");
  const auto& found = client.at(id).answer.body;
  REQUIRE(client.run([&] { return found == "first;"; }));
  const auto stream = watch.wait_for(1);
  std::string expected = "first;";
  for (int i = 0; i < 200; ++i) {
    REQUIRE(stream.write(std::to_string(i) + ";"));
    expected += std::to_string(i) + ";";
    REQUIRE(client.run([&] { return found == expected; }));
  }
  stream.close();
  REQUIRE(client.run([&] { return client.at(id).ended; }));
  CHECK(client.at(id).error_code == 0);
  CHECK(eventually([&] { return watch.closed == 1; }));
}

TEST_CASE("a stream whose handles are all dropped ends") {
  test_server server;
  watch_route watch{server};
  http_client client{server.client()};
  client.send_request("GET", "/watch");
  watch.wait_for(1);
  watch.streams.clear();
  CHECK(client.receive_answer().body == "first;");
  CHECK(eventually([&] { return watch.closed == 1; }));
}

TEST_CASE("a stream learns that its client has gone, over both protocols") {
  test_server server;
  watch_route watch{server};
  auto one = std::make_unique<http_client>(server.client());
  one->send_request("GET", "/watch");
  const auto first = watch.wait_for(1);
  one.reset();
  CHECK(eventually([&] { return watch.closed == 1; }));
  CHECK_FALSE(first.open());
  CHECK_FALSE(first.write("x"));

  auto two = std::make_unique<http2_client>(server.client());
  const auto held = two->start("GET", "/watch");
  const auto cancelled = two->start("GET", "/watch");
  REQUIRE(two->run([&] {
    return !two->at(held).answer.body.empty() && !two->at(cancelled).answer.body.empty();
  }));
  two->reset(cancelled);
  two->run([] { return true; });  // sends the reset
  CHECK(eventually([&] { return watch.closed == 2; }));
  two.reset();
  CHECK(eventually([&] { return watch.closed == 3; }));
}

TEST_CASE("write says no when too much waits, and writable comes when there is room") {
  server::http_options options;
  options.stream_buffer_bytes = 64 << 10;
  test_server server{options};
  watch_route watch{server};
  http_client client{server.client()};
  client.send_request("GET", "/watch");
  const auto stream = watch.wait_for(1);
  const auto chunk = server::shared_text{std::string(10'000, 'c')};
  std::size_t written = 0;
  // The client does not read: until the sockets are full.
  int found = 0;
  do {
    found = watch.writable;
    while (stream.write(chunk))
      REQUIRE(++written < 10'000);
    ++written;
  } while (eventually([&] { return watch.writable > found; }, 100ms));
  CHECK(stream.open());
  client.receive_head();
  std::size_t read = 0;
  const auto expected = std::string("first;").size() + written * chunk.size();
  while (read < expected) {
    const auto part = client.next_chunk();
    REQUIRE(part);
    read += part->size();
  }
  CHECK(read == expected);
  CHECK(eventually([&] { return watch.writable == found + 1; }));
  CHECK(stream.write(chunk));
}

TEST_CASE("many streams without readers share the buffer, and none is starved") {
  server::http_options options;
  options.stream_buffer_bytes = 1 << 20;
  options.streams_bytes = 4 << 20;
  test_server server{options};
  watch_route watch{server};
  auto slow = server.client();
  slow.receive_buffer_bytes = 4096;
  std::vector<std::unique_ptr<http_client>> clients;
  const std::size_t chunk_bytes = 4'000;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(std::make_unique<http_client>(slow));
    clients.back()->send_request("GET", "/watch");
    const auto stream = watch.wait_for(i + 1);
    std::size_t written = chunk_bytes;
    while (stream.write(std::string(chunk_bytes, 'c')))
      written += chunk_bytes;
    CHECK(written >= server::defaults::stream_least_bytes);
  }
  CHECK(server.server().stats().stream_bytes <
        options.streams_bytes + 40 * (server::defaults::stream_least_bytes + chunk_bytes));
  clients.clear();
  CHECK(eventually([&] { return server.server().stats().stream_bytes == 0; }));
}

TEST_CASE(
    "a stream that writes on to a slow reader is cut off, and other streams are not delayed") {
  server::http_options options;
  options.stream_buffer_bytes = 64 << 10;
  test_server server{options};
  watch_route watch{server};
  const bool second_protocol = GENERATE(false, true);
  auto slow_options = server.client();
  slow_options.receive_buffer_bytes = 4096;
  std::unique_ptr<http_client> slow;
  std::unique_ptr<http2_client> slow2;
  if (second_protocol) {
    slow2 = std::make_unique<http2_client>(slow_options, 1000);
    const auto id = slow2->start("GET", "/watch");
    REQUIRE(slow2->run([&] { return slow2->at(id).answer.status == 200; }));
  } else {
    slow = std::make_unique<http_client>(slow_options);
    slow->send_request("GET", "/watch");
  }
  const auto slow_stream = watch.wait_for(1);
  http_client quick{server.client()};
  quick.send_request("GET", "/watch");
  const auto quick_stream = watch.wait_for(2);
  quick.receive_head();
  CHECK(quick.next_chunk() == "first;");

  const auto chunk = server::shared_text{std::string(10'000, 'c')};
  for (int i = 0; i < 10'000 && slow_stream.open(); ++i) {
    slow_stream.write(chunk);
    if (i % 10 != 0) continue;
    REQUIRE(quick_stream.write("tick"));
    REQUIRE(quick.next_chunk() == "tick");
  }
  CHECK(eventually([&] { return watch.closed == 1; }));
  CHECK_FALSE(slow_stream.open());
  CHECK(quick_stream.open());
  CHECK(eventually([&] { return server.server().stats().overrun_streams == 1; }));
}

TEST_CASE("a stream that its reader has stopped reading is cut off after the stall time") {
  server::http_options options;
  options.stall_timeout = 200ms;
  options.stream_buffer_bytes = 1 << 20;
  test_server server{options};
  watch_route watch{server};
  const bool second_protocol = GENERATE(false, true);
  auto slow_options = server.client();
  slow_options.receive_buffer_bytes = 4096;
  std::unique_ptr<http_client> slow;
  std::unique_ptr<http2_client> slow2;
  if (second_protocol) {
    slow2 = std::make_unique<http2_client>(slow_options, 1000);
    const auto id = slow2->start("GET", "/watch");
    REQUIRE(slow2->run([&] { return slow2->at(id).answer.status == 200; }));
  } else {
    slow = std::make_unique<http_client>(slow_options);
    slow->send_request("GET", "/watch");
  }
  const auto stream = watch.wait_for(1);
  const auto chunk = server::shared_text{std::string(100'000, 'c')};
  // Until the sockets in between are full.
  int found = 0;
  do {
    found = watch.writable;
    while (stream.write(chunk)) {
    }
  } while (eventually([&] { return watch.writable > found; }, 100ms));
  CHECK(eventually([&] { return watch.closed == 1; }));
  CHECK(eventually([&] { return server.server().stats().timed_out == 1; }));
}

TEST_CASE("the reader of a log may pause for longer than the stall time") {
  server::http_options options;
  options.stall_timeout = 100ms;
  test_server server{options};
  watch_route watch{server};
  server.site.admission = [](server::request& head) -> std::optional<server::response> {
    head.long_running = true;
    head.info.subresource = "log";
    return std::nullopt;
  };
  auto slow = server.client();
  slow.receive_buffer_bytes = 4096;
  http_client first{slow};
  first.send_request("GET", "/watch");
  http2_client second{slow, 1000};
  const auto id = second.start("GET", "/watch");
  REQUIRE(second.run([&] { return second.at(id).answer.status == 200; }));
  const auto chunk = server::shared_text{std::string(100'000, 'c')};
  for (std::size_t i = 1; i <= 2; ++i) {
    const auto stream = watch.wait_for(i);
    int found = 0;
    do {
      found = watch.writable;
      while (stream.write(chunk)) {
      }
    } while (eventually([&] { return watch.writable > found; }, 100ms));
  }
  CHECK_FALSE(eventually([&] { return watch.closed != 0; }, 500ms));
  CHECK(server.server().stats().timed_out == 0);
}

TEST_CASE("a response that is made in parts is cut off when its reader has stopped between two") {
  server::http_options options;
  options.stall_timeout = 200ms;
  test_server server{options};
  server.site.on("/parts", [](auto&, auto& answer) {
    server::response out;
    out.content.continue_with([](server::body& to) {
      to.add(std::string(1000, 'p'));
      return true;
    });
    answer.respond(std::move(out));
  });
  http2_client client{server.client(), 1000};
  const auto id = client.start("GET", "/parts");
  CHECK(client.run([&] { return client.at(id).reset; }));
  CHECK(client.at(id).answer.body.size() == 1000);
  CHECK(eventually([&] { return server.server().stats().timed_out == 1; }));
}

TEST_CASE("stopping the server ends streams properly and informs the handler") {
  test_server server;
  watch_route watch{server};
  http_client client{server.client()};
  client.send_request("GET", "/watch");
  watch.wait_for(1);
  server.server().stop();
  CHECK(client.receive_answer().body == "first;");
  CHECK(client.connection().wait_for_end());
  CHECK(watch.closed == 1);
}

TEST_CASE("two hundred streams on one HTTP/2 connection each get their own events") {
  test_server server;
  watch_route watch{server};
  http2_client client{server.client_with_certificate()};
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 200; ++i)
    ids.push_back(client.start("GET", "/watch"));
  REQUIRE(client.run([&] {
    for (const auto id : ids) {
      if (client.at(id).answer.body != "first;") return false;
    }
    return true;
  }));
  for (std::size_t i = 0; i < ids.size(); ++i)
    watch.wait_for(i + 1).write(std::to_string(i));
  REQUIRE(client.run([&] {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (client.at(ids[i]).answer.body != "first;" + std::to_string(i)) return false;
    }
    return true;
  }));
}
