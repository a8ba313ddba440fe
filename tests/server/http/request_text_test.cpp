// Parsing of a request line: query, path, attributes of the request.
#include <catch2/catch.hpp>
#include <random>

#include "server/connections/http1_parser.hpp"
#include "server/http/headers.hpp"
#include "server/http/http.hpp"
#include "server/http/query.hpp"
#include "server/http/request_info.hpp"

using namespace troupe::server;

namespace {

request_info about(std::string_view method, const std::string& target) {
  request request;
  REQUIRE(parse_target(target, request));
  return parse_request_info(method, request.path, request.query);
}

// prefix|group|version|namespace|resource|name|subresource|verb
std::string summary(std::string_view method, const std::string& target) {
  const auto i = about(method, target);
  if (!i.is_resource) return "path " + i.path + " " + i.verb;
  return i.api_prefix + "|" + i.group + "|" + i.version + "|" + i.namespace_name + "|" +
         i.resource + "|" + i.name + "|" + i.subresource + "|" + i.verb;
}

}  // namespace

TEST_CASE("query parameters are decoded where they are asked for") {
  const query_string query{"a=1&b=x%20y+z&empty=&flag&a=2&%63=3&=odd&&bad=%zz%4"};
  CHECK(query.get("a") == "1");
  CHECK(query.all("a") == std::vector<std::string>{"1", "2"});
  CHECK(query.get("b") == "x y z");
  CHECK(query.get("c") == "3");
  CHECK(query.get("empty") == "");
  CHECK(query.get("flag") == "");
  CHECK(query.get("bad") == "%zz%4");
  CHECK_FALSE(query.get("none"));
  CHECK(query.get_or("none", "fallback") == "fallback");
  CHECK(query.has("flag"));
  CHECK_FALSE(query.has("fla"));
  int count = 0;
  query.each([&](const auto&, const auto&) { ++count; });
  CHECK(count == 8);
}

TEST_CASE("flags follow upstream's conversion of query parameters") {
  for (const auto* yes : {"watch=1", "watch=true", "watch", "watch=", "watch=anything"})
    CHECK(query_string{yes}.flag("watch"));
  for (const auto* no : {"watch=0", "watch=false", "watch=False", "watch=FALSE", "", "watching=1"})
    CHECK_FALSE(query_string{no}.flag("watch"));
}

TEST_CASE("percent-encoding comes back as it was for any bytes") {
  std::mt19937 random{7};
  for (int round = 0; round < 1000; ++round) {
    std::string text(random() % 40, '\0');
    for (char& c : text)
      c = static_cast<char>(random());
    CHECK(percent_decode(percent_encode(text)) == text);
  }
}

TEST_CASE("header fields are found in any case, and lists are joined") {
  header_block headers;
  headers.add("Accept", "a");
  headers.add("X-Y", "1");
  headers.add("accept", "b;q=1");
  CHECK(headers.get("accept") == "a");
  CHECK(headers.joined("accept") == "a, b;q=1");
  CHECK(headers.count("accept") == 2);
  CHECK(headers.get("none").empty());
  CHECK(headers.name(1) == "x-y");
  CHECK(headers.value(1) == "1");
}

TEST_CASE("a request target is a path with a query, also in its absolute form") {
  request request;
  REQUIRE(parse_target("/a%2Fb/%C3%BC?x=1?2#f", request));
  CHECK(request.path == "/a/b/\xc3\xbc");
  CHECK(request.query.raw() == "x=1?2");
  REQUIRE(parse_target("https://host:6443/p?q", request));
  CHECK(request.path == "/p");
  REQUIRE(parse_target("https://host:6443", request));
  CHECK(request.path == "/");
  CHECK_FALSE(parse_target("", request));
  CHECK_FALSE(parse_target("nothing", request));
  CHECK_FALSE(parse_target("*", request));
  CHECK_FALSE(parse_target("/a%00", request));
}

TEST_CASE("the attributes of a request equal upstream's") {
  CHECK(summary("GET", "/api/v1/namespaces/default/pods/web") == "api||v1|default|pods|web||get");
  CHECK(summary("HEAD", "/api/v1/pods/") == "api||v1||pods|||list");
  CHECK(summary("GET", "/api/v1/pods?watch=true") == "api||v1||pods|||watch");
  CHECK(summary("GET", "/api/v1/watch/pods") == "api||v1||pods|||watch");
  CHECK(summary("GET", "/api/v1/watch/namespaces/a/pods/b") == "api||v1|a|pods|b||watch");
  CHECK(summary("POST", "/apis/apps/v1/namespaces/a/deployments") ==
        "apis|apps|v1|a|deployments|||create");
  CHECK(summary("PUT", "/apis/apps/v1/namespaces/a/deployments/d/scale") ==
        "apis|apps|v1|a|deployments|d|scale|update");
  CHECK(summary("PATCH", "/api/v1/nodes/n/status") == "api||v1||nodes|n|status|patch");
  CHECK(summary("DELETE", "/api/v1/nodes/n") == "api||v1||nodes|n||delete");
  CHECK(summary("DELETE", "/api/v1/namespaces/a/pods") == "api||v1|a|pods|||deletecollection");
  CHECK(summary("GET", "/api/v1/namespaces") == "api||v1||namespaces|||list");
  CHECK(summary("GET", "/api/v1/namespaces/a") == "api||v1|a|namespaces|a||get");
  CHECK(summary("PUT", "/api/v1/namespaces/a/finalize") ==
        "api||v1|a|namespaces|a|finalize|update");
  CHECK(summary("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dx") == "api||v1||pods|x||list");
  CHECK(summary("GET", "/api/v1/proxy/nodes/n/logs/x") == "api||v1||nodes|n||proxy");
  for (const auto* path : {"/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1",
                           "/healthz/ping", "/openapi/v3/apis/apps/v1"})
    CHECK(summary("GET", path) == std::string("path ") + path + " get");
}

TEST_CASE("a list or a watch has the name that its field selector requires") {
  const auto name = [](const std::string& selector, const std::string& rest = {}) {
    return about("GET", "/api/v1/pods?fieldSelector=" + percent_encode(selector) + rest).name;
  };
  CHECK(name("metadata.name=x") == "x");
  CHECK(name("metadata.name==x", "&watch=1") == "x");
  CHECK(name("metadata.name=x,status.phase=Failed") == "x");
  CHECK(name("status.phase!=Failed,metadata.name==x,") == "x");
  CHECK(name("metadata.name=a\\,b") == "a,b");
  for (const auto* selector :
       {"metadata.name!=x", "metadata.name=", "spec.nodeName=metadata.name", "metadata.name=a/b",
        "metadata.name=..", "metadata.name=x,broken", "spec.nodeName=a\\,metadata.name=x"})
    CHECK(name(selector).empty());
  CHECK(summary("DELETE", "/api/v1/pods?fieldSelector=metadata.name%3Dx") ==
        "api||v1||pods|||deletecollection");
  CHECK(summary("GET", "/api/v1/watch/pods?fieldSelector=metadata.name%3Dx") ==
        "api||v1||pods|||watch");
}

TEST_CASE("watches and logs are long-running, and only writes are mutating") {
  CHECK(about("GET", "/api/v1/pods?watch=1").long_running());
  CHECK(about("GET", "/api/v1/namespaces/a/pods/p/log").long_running());
  CHECK(about("POST", "/api/v1/namespaces/a/pods/p/exec").long_running());
  CHECK_FALSE(about("GET", "/api/v1/pods").long_running());
  CHECK_FALSE(about("GET", "/healthz?watch=1").long_running());
  for (const auto* method : {"GET", "HEAD"})
    CHECK_FALSE(about(method, "/api/v1/pods").mutates());
  for (const auto* method : {"POST", "PUT", "PATCH", "DELETE"})
    CHECK(about(method, "/api/v1/pods/x").mutates());
}
