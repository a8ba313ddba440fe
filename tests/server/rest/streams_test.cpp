// Commands, consoles and ports of containers, with the protocols of old and new clients.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "api/values/base64.hpp"
#include "server/fixtures/audit_lines.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "server/fixtures/stream_clients.hpp"
#include "server/streams/defaults.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Contains;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";
const std::string run_cat = pods + "/web/exec?command=cat&stdin=true&stdout=true&stderr=true";
const test::http_client::fields v4 = {{"X-Stream-Protocol-Version", "v4.channel.k8s.io"}};

struct stream_test {
  const std::shared_ptr<echo_source> containers = std::make_shared<echo_source>();
  rest_test server{{.rest = {.permissions = nullptr, .streams = containers, .observe = {}}}};

  stream_test() {
    server.create_pod("web");
    server.post(pods + "/web/binding", R"({"target":{"kind":"Node","name":"n1"}})");
    report(R"({"running":{}})");
  }
  void report(const std::string& state) {
    const auto done = server.request(
        "PATCH", pods + "/web/status",
        fmt::format(
            R"({{"status":{{"phase":"Running","containerStatuses":[{{"name":"c","image":"i",)"
            R"("imageID":"","ready":true,"restartCount":1,"containerID":"process://u/c/1",)"
            R"("state":{}}}]}}}})",
            state),
        {{"content-type", "application/merge-patch+json"}});
    REQUIRE(done.status == 200);
  }
  spdy_client spdy(const std::string& path, const test::http_client::fields& headers = v4) {
    return {server.where(), path, headers};
  }
  websocket_client websocket(const std::string& path, const std::string& protocols) {
    return {server.where(), path, protocols};
  }
};

std::string channel(int number, const std::string& bytes) {
  return static_cast<char>(number) + bytes;
}

// The last message of a successful command.
const std::string success =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})";

}  // namespace

TEST_CASE("a command over WebSocket gets its input and its end, and reports its exit") {
  stream_test t;
  auto client = t.websocket(run_cat, "v5.channel.k8s.io");
  REQUIRE(client.head().status == 101);
  CHECK(client.head().header("sec-websocket-protocol") == "v5.channel.k8s.io");
  CHECK(client.next() == channel(1, ""));  // connected
  client.send(channel(0, "hello"));
  CHECK(client.next() == channel(1, "hello"));
  client.send(std::string{"\xff\0", 2});
  CHECK(client.next() == channel(3, success));
  CHECK_FALSE(client.next());
  CHECK(rest_test::eventually([&] { return t.containers->live == 0; }));
}

TEST_CASE("a command is in the audit log, also with the method GET") {
  const audit_lines log;
  stream_test t;
  const auto client = t.websocket(run_cat, "v5.channel.k8s.io");
  REQUIRE(client.head().status == 101);
  CHECK(t.server.get(pods + "/web").status == 200);
  CHECK(log.count(R"("verb":"get","resource":"pods","subresource":"exec","namespace":"default",)"
                  R"("name":"web")") == 1);
  CHECK(log.count(R"("verb":"get")") == 1);
}

TEST_CASE("a command over WebSocket begins when its client reads, or has had time to") {
  stream_test t;
  auto begin = std::chrono::steady_clock::now();
  const auto has_had_time = [&] {
    return std::chrono::steady_clock::now() - begin >= server::defaults::stream_ping_answer;
  };
  auto client = t.websocket(run_cat, "v5.channel.k8s.io");
  REQUIRE(client.next_is_ping());
  const bool waits = t.containers->live == 0;
  CHECK((waits || has_had_time()));
  client.pong();
  CHECK(client.next() == channel(1, ""));
  begin = std::chrono::steady_clock::now();
  auto silent = t.websocket(run_cat, "v5.channel.k8s.io");
  REQUIRE(silent.next_is_ping());
  const bool waits_again = t.containers->live == 1;
  CHECK((waits_again || has_had_time()));
  CHECK(silent.next() == channel(1, ""));
  CHECK(t.containers->live == 2);
}

TEST_CASE("the end of a command is an object from the fourth version on, and a text before") {
  stream_test t;
  const auto last = [&](const std::string& command, const std::string& protocols) {
    auto client = t.websocket(pods + "/web/exec?stdout=1&stderr=True" + command, protocols);
    std::string last;
    while (const auto next = client.next())
      last = *next;
    return last;
  };
  const auto status = json_text{last("&command=exit&command=6", "v4.channel.k8s.io").substr(1)};
  CHECK(status.at("reason") == "NonZeroExitCode");
  CHECK(status.at("details.causes.0.reason") == "ExitCode");
  CHECK(status.at("details.causes.0.message") == "6");
  CHECK(last("&command=exit&command=6", "") ==
        channel(3, "command terminated with non-zero exit code: exit code 6"));
  CHECK(json_text{last("&command=broken", "v4.channel.k8s.io").substr(1)}.at("message") ==
        "error executing command in container: no such program");
}

TEST_CASE("channels in base64 carry the same") {
  stream_test t;
  auto client = t.websocket(run_cat, "v4.base64.channel.k8s.io");
  CHECK(client.next() == "1");
  client.send("0aGVsbG8=", false);
  CHECK(client.next() == "1aGVsbG8=");
  client.send("0%%", false);
  CHECK_FALSE(client.next());
}

TEST_CASE("a command over SPDY begins when its streams are there, and carries a megabyte") {
  stream_test t;
  auto client = t.spdy(run_cat);
  REQUIRE(client.head().status == 101);
  CHECK(client.head().header("upgrade") == "SPDY/3.1");
  CHECK(client.head().header("x-stream-protocol-version") == "v4.channel.k8s.io");
  const auto error = client.open({{"streamtype", "error"}});
  const auto input = client.open({{"streamtype", "stdin"}});
  const auto output = client.open({{"streamtype", "stdout"}});
  const auto unknown = client.open({{"streamtype", "resize"}});
  REQUIRE(client.await([&] { return client.refused(unknown); }));
  CHECK(t.containers->live == 0);
  client.open({{"streamtype", "stderr"}});
  client.ping();
  std::string sent;
  for (int i = 0; i < 100; ++i) {
    const std::string part(10'000, static_cast<char>('a' + i % 26));
    REQUIRE(client.send(input, part));
    sent += part;
  }
  REQUIRE(client.await([&] { return client.got(output).size() == sent.size(); }));
  CHECK(client.got(output) == sent);
  CHECK(client.pings() == 1);
  client.send(input, "", true);
  REQUIRE(client.await([&] { return client.ended(error); }));
  CHECK(client.ended(output));
  CHECK(client.got(error) == success);
}

TEST_CASE("a terminal has no error stream, and gets its size") {
  stream_test t;
  auto client = t.spdy(run_cat + "&tty=true");
  client.open({{"streamtype", "error"}});
  client.open({{"streamtype", "stdin"}});
  const auto output = client.open({{"streamtype", "stdout"}});
  const auto size = client.open({{"streamtype", "resize"}});
  client.send(size, "{\"Width\":80,\"Hei");
  client.send(size, "ght\":24}\n{\"Width\":0,\"Height\":1}{\"Width\":100,\"Height\":30}");
  REQUIRE(client.await([&] { return client.got(output).ends_with("30x100"); }));
  CHECK_THAT(client.got(output), !Contains("1x0"));
}

TEST_CASE("a client that closes when it has sent all is not cut short") {
  stream_test t;
  {
    // Everything is read, so that the connection is closed and not reset.
    auto client =
        t.websocket(pods + "/web/exec?command=cat&stdin=true&stderr=true", "v4.channel.k8s.io");
    CHECK(client.next() == channel(2, ""));
    REQUIRE(client.send(channel(0, std::string(200'000, 'x'))));
  }
  CHECK(rest_test::eventually([&] { return t.containers->heard == 200'000; }));
  CHECK(rest_test::eventually([&] { return t.containers->live == 0; }));
}

TEST_CASE("a client that closes before its command has begun is not cut short") {
  stream_test t;
  for (std::size_t i = 1; i <= 50; ++i) {
    {
      auto client =
          t.websocket(pods + "/web/exec?command=cat&stdin=true&stderr=true", "v4.channel.k8s.io");
      REQUIRE(client.next_is_ping());
      REQUIRE(client.send(channel(0, "hello")));
    }
    REQUIRE(rest_test::eventually([&] { return t.containers->heard == 5 * i; }));
  }
  CHECK(rest_test::eventually([&] { return t.containers->live == 0; }));
}

TEST_CASE("a client that leaves ends its command, and one that breaks the protocol is left") {
  stream_test t;
  {
    auto client = t.websocket(run_cat, "v5.channel.k8s.io");
    client.next();
    REQUIRE(rest_test::eventually([&] { return t.containers->live == 1; }));
  }
  CHECK(rest_test::eventually([&] { return t.containers->live == 0; }));
  auto client = t.spdy(run_cat);
  client.connection().connection().send("\x80 no SPDY");
  CHECK(client.connection().connection().wait_for_end());
  CHECK(rest_test::eventually([&] { return t.server.count_actors("exec") == 0; }));
}

TEST_CASE("a command that reads nothing holds up its client, and nothing grows here") {
  stream_test t;
  auto where = t.server.where();
  where.timeout = std::chrono::milliseconds{500};
  for (const bool spdy : {true, false}) {
    const auto path = pods + "/web/exec?command=stuck&stdin=true&stdout=true";
    std::size_t sent = 0;
    if (spdy) {
      spdy_client client{where, path, v4};
      client.open({{"streamtype", "error"}});
      const auto input = client.open({{"streamtype", "stdin"}});
      client.open({{"streamtype", "stdout"}});
      while (sent < (64u << 20) && client.send(input, std::string(1 << 20, 'x')))
        sent += 1 << 20;
    } else {
      websocket_client client{where, path, "v5.channel.k8s.io"};
      while (sent < (64u << 20) && client.send(channel(0, std::string(1 << 20, 'x'))))
        sent += 1 << 20;
    }
    CAPTURE(spdy);
    CHECK(sent < (32u << 20));  // capacity of the sockets
  }
}

TEST_CASE("an invalid stream request is refused before the connection is upgraded") {
  stream_test t;
  const test::http_client::fields upgrade = {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}};
  const auto refused = [&](const std::string& path) {
    return t.server.request("POST", path, "", upgrade);
  };
  CHECK(refused(pods + "/none/exec?command=cat&stdout=1").status == 404);
  CHECK_THAT(refused(pods + "/web/exec?command=cat").at("message"),
             Contains("you must specify at least 1 of stdin, stdout, stderr"));
  CHECK_THAT(refused(pods + "/web/exec?stdout=1").at("message"), Contains("at least one command"));
  CHECK_THAT(refused(pods + "/web/exec?command=cat&stdout=1&container=x").at("message"),
             Contains("container x is not valid for pod web"));
  CHECK_THAT(t.server.post(run_cat, "").at("message"), Contains("Upgrade request required"));
  auto other = upgrade;
  other["X-Stream-Protocol-Version"] = "v9.channel.k8s.io";
  const auto version = t.server.request("POST", run_cat, "", other);
  CHECK(version.status == 403);
  CHECK(version.headers.contains("x-accepted-stream-protocol-versions"));
  t.report(R"({"waiting":{"reason":"CrashLoopBackOff"}})");
  const auto waiting = refused(run_cat);
  CHECK(waiting.status == 500);
  CHECK(waiting.text() == "container not found (\"c\")");
  t.server.create_pod("lost");
  CHECK_THAT(refused(pods + "/lost/exec?command=cat&stdout=1").at("message"),
             Contains("pod lost does not have a host assigned"));
}

TEST_CASE("attach connects to the container's main process, and succeeds whatever its exit code") {
  stream_test t;
  auto client = t.websocket(pods + "/web/attach?stdin=true&stdout=true", "v5.channel.k8s.io");
  CHECK(client.next() == channel(1, ""));
  client.send(channel(0, "x"));
  CHECK(client.next() == channel(1, "x"));
  client.send(std::string{"\xff\0", 2});
  CHECK(client.next() == channel(3, success));
}

// -- ports ----------------------------------------------------------------------------------------

namespace {

const test::http_client::fields port_forward = {
    {"X-Stream-Protocol-Version", "portforward.k8s.io"}};

struct forwarded {
  std::uint32_t error = 0, data = 0;
};

forwarded forward(spdy_client& client, int port, const std::string& request) {
  const auto headers = [&](const char* type) {
    return server::spdy_headers{
        {"streamtype", type}, {"port", std::to_string(port)}, {"requestid", request}};
  };
  const auto error = client.open(headers("error"));
  return {error, client.open(headers("data"))};
}

}  // namespace

TEST_CASE("many connections with ports go over one of SPDY") {
  stream_test t;
  auto client = t.spdy(pods + "/web/portforward", port_forward);
  REQUIRE(client.head().status == 101);
  const auto one = forward(client, 80, "0"), two = forward(client, 80, "1");
  const auto none = forward(client, 81, "2");
  client.send(one.data, "first");
  client.send(two.data, "second");
  REQUIRE(client.await([&] {
    return client.got(one.data) == "first" && client.got(two.data) == "second" &&
           client.ended(none.data) && client.ended(none.error);
  }));
  CHECK(client.got(none.error) == "error forwarding port 81 to pod web: connection refused");
  client.send(one.data, "", true);
  REQUIRE(client.await([&] { return client.ended(one.data) && client.ended(one.error); }));
  CHECK(client.got(one.error).empty());
  CHECK_FALSE(client.ended(two.data));
  const auto bad = forward(client, 0, "3");
  const auto unpaired = client.open({{"streamtype", "data"}, {"port", "80"}, {"requestid", "9"}});
  REQUIRE(client.await([&] { return client.refused(bad.data) && client.refused(unpaired); }));
}

TEST_CASE("the error stream of a connection whose data stream is reset ends") {
  stream_test t;
  auto client = t.spdy(pods + "/web/portforward", port_forward);
  const auto one = forward(client, 80, "one");
  client.send(one.data, "first");
  REQUIRE(client.await([&] { return client.got(one.data) == "first"; }));
  client.reset(one.data);
  REQUIRE(client.await([&] { return client.ended(one.error); }));
  CHECK(rest_test::eventually([&] { return t.containers->live == 0; }));
}

TEST_CASE("error streams that are reset leave room for others") {
  stream_test t;
  auto client = t.spdy(pods + "/web/portforward", port_forward);
  for (std::size_t i = 0; i < server::defaults::forwarded_connections; ++i)
    client.reset(
        client.open({{"streamtype", "error"}, {"port", "80"}, {"requestid", std::to_string(i)}}));
  const auto last = forward(client, 80, "last");
  client.send(last.data, "still");
  CHECK(client.await([&] { return client.got(last.data) == "still"; }));
}

TEST_CASE("a connection has a bounded number of streams") {
  stream_test t;
  auto client = t.spdy(pods + "/web/portforward", port_forward);
  forwarded last;
  const auto limit = static_cast<int>(server::defaults::forwarded_connections);
  for (int i = 0; i <= limit; ++i)
    last = forward(client, 80, std::to_string(i));
  REQUIRE(client.await([&] { return client.refused(last.data); }));
  CHECK(t.containers->live == limit);
}

TEST_CASE("SPDY may come as the messages of a WebSocket") {
  stream_test t;
  auto client = t.websocket(pods + "/web/portforward", "SPDY/3.1+portforward.k8s.io");
  REQUIRE(client.head().status == 101);
  server::spdy_writer writer;
  for (std::uint32_t stream : {1u, 3u})
    client.send(writer.write(
        {.type = server::spdy_type::syn_stream,
         .stream = stream,
         .headers = {
             {"streamtype", stream == 1 ? "error" : "data"}, {"port", "80"}, {"requestid", "0"}}}));
  client.send(server::spdy_data_head(3, 5, true) + "hello");
  std::string got;
  bool ended = false;
  server::spdy_reader reader;
  while (!ended) {
    const auto message = client.next();
    REQUIRE(message);
    REQUIRE_FALSE(reader.feed(*message, [&](const server::spdy_frame& frame) {
      if (frame.stream == 3) got += frame.data;
      ended = ended || (frame.stream == 3 && frame.last);
    }));
  }
  CHECK(got == "hello");
}

TEST_CASE("the ports that a request names have two channels of a WebSocket each") {
  stream_test t;
  auto client = t.websocket(pods + "/web/portforward?ports=80,81", "v4.channel.k8s.io");
  for (const int number : {0, 1})
    CHECK(client.next() == channel(number, std::string{"\x50\0", 2}));
  for (const int number : {2, 3})
    CHECK(client.next() == channel(number, std::string{"\x51\0", 2}));
  CHECK(client.next() == channel(3, "error forwarding port 81 to pod web: connection refused"));
  client.send(channel(0, "hello"));
  CHECK(client.next() == channel(0, "hello"));
  const auto unnamed = t.websocket(pods + "/web/portforward", "v4.channel.k8s.io");
  CHECK(unnamed.head().status == 400);
}
