// How machines become nodes, stay nodes and leave.
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <catch2/catch.hpp>
#include <random>

#include "actors/kubelet/os/timed_socket.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "server/access/authentication.hpp"
#include "server/fixtures/http_fixture.hpp"
#include "server/fixtures/join_fixture.hpp"
#include "server/join/defaults.hpp"
#include "server/join/join_authorizer.hpp"

using namespace troupe;
using namespace troupe::server;
using namespace troupe::server::testing;
using api::core::v1::Node;
using Catch::Matchers::Contains;

namespace {

constexpr const char* certificates = "/troupe/v1/node-certificates";

std::string new_key() {
  return x509::make_key().value();
}

std::string node_key_of(join_test& test, const std::string& node) {
  const auto found = test.store().read().find(api::kind_of<Node>().key({}, node));
  if (!found) return "no node";
  const auto& annotations = found->meta().annotations();
  const auto key = annotations.find("troupe.dev/node-key");
  return key == annotations.end() ? "no key" : key->second;
}

void remove_node(join_test& test, const std::string& node) {
  const auto& kind = api::kind_of<Node>();
  test.write(kind, kind.key({}, node), nullptr);
}

// A request for as much as possible: another name, groups, names of a server, being an authority.
std::string greedy_request() {
  EVP_PKEY* key = ::EVP_EC_gen("P-256");
  X509_REQ* request = ::X509_REQ_new();
  X509_NAME* subject = ::X509_REQ_get_subject_name(request);
  const auto add = [&](const char* field, const char* value) {
    ::X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(value), -1, -1, 0);
  };
  add("O", "system:masters");
  add("CN", "admin");
  STACK_OF(X509_EXTENSION)* extensions = sk_X509_EXTENSION_new_null();
  for (const auto& [extension, value] :
       {std::pair{NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1"},
        {NID_basic_constraints, "critical,CA:TRUE"},
        {NID_ext_key_usage, "serverAuth"}})
    sk_X509_EXTENSION_push(extensions, ::X509V3_EXT_conf_nid(nullptr, nullptr, extension, value));
  ::X509_REQ_add_extensions(request, extensions);
  sk_X509_EXTENSION_pop_free(extensions, ::X509_EXTENSION_free);
  ::X509_REQ_set_pubkey(request, key);
  ::X509_REQ_sign(request, key, ::EVP_sha256());
  BIO* out = ::BIO_new(::BIO_s_mem());
  ::PEM_write_bio_X509_REQ(out, request);
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  std::string text{data, static_cast<std::size_t>(size)};
  ::BIO_free_all(out);
  ::X509_REQ_free(request);
  ::EVP_PKEY_free(key);
  return text;
}

}  // namespace

TEST_CASE("a machine with a token becomes a node, and its key is written on the Node") {
  join_test cluster;
  const auto key = new_key();
  const auto answer = cluster.ask_certificate({cluster.add_token(), {}, {}}, "worker-1", key);
  REQUIRE(answer.status == 201);
  const auto reply = read_flat_json(answer.body).value();
  const auto certificate = member(reply, "certificate");
  CHECK(x509::belongs({certificate, key}, cluster.authority()));
  CHECK(member(reply, "certificateAuthority") == cluster.authority());
  CHECK(member(reply, "clusterId") == cluster.store().cluster_id());
  CHECK(member(reply, "linkAddress") == "test:7443");
  CHECK(node_key_of(cluster, "worker-1") == x509::key_hash(certificate));
  const auto valid = x509::read_validity(certificate).value();
  const auto now = std::chrono::system_clock::now();
  CHECK(valid.until - now < std::chrono::hours{721});
  CHECK(valid.until - now > std::chrono::hours{719});
}

TEST_CASE("a machine joins by the longest name that a node may have") {
  join_test cluster;
  const auto name = std::string(60, 'a') + ".b" + std::string(191, 'c');
  const auto key = new_key();
  const auto answer = cluster.ask_certificate({cluster.add_token(), {}, {}}, name, key);
  REQUIRE(answer.status == 201);
  const auto certificate = member(read_flat_json(answer.body).value(), "certificate");
  CHECK_THAT(printed(certificate), Contains("CN=system:node:" + name + "\n"));
  CHECK(node_key_of(cluster, name) == x509::key_hash(certificate));
}

TEST_CASE("a certificate request with excessive rights gets the same certificate as every node") {
  join_test cluster;
  const auto answer = cluster.ask(
      {cluster.add_token(), {}, {}}, "POST", certificates,
      write_flat_json({{"nodeName", "worker-1"}, {"certificateRequest", greedy_request()}}));
  REQUIRE(answer.status == 201);
  const auto text = printed(member(read_flat_json(answer.body).value(), "certificate"));
  CHECK_THAT(text,
             Contains("Subject: O=system:nodes, O=troupe:joined-nodes, CN=system:node:worker-1\n"));
  CHECK_THAT(text, Contains("CA:FALSE") && Contains("TLS Web Client Authentication"));
  CHECK_THAT(text, !Contains("masters") && !Contains("admin") && !Contains("localhost") &&
                       !Contains("CA:TRUE") && !Contains("Server Authentication"));
}

TEST_CASE("a machine that asks again with its key is the same node; another key is not") {
  join_test cluster;
  const auto key = new_key();
  cluster.join("worker-1", key);
  CHECK(cluster.ask_certificate({cluster.add_token(), {}, {}}, "worker-1", key).status == 201);
  const auto other = cluster.ask_certificate({cluster.add_token(), {}, {}}, "worker-1", new_key());
  CHECK(other.status == 409);
  CHECK_THAT(message_of(other), Contains("worker-1") && Contains("--node-name"));

  const auto& kind = api::kind_of<Node>();
  auto made = std::make_unique<Node>();
  made->mutable_metadata()->set_name("by-hand");
  cluster.write(kind, kind.key({}, "by-hand"), std::move(made));
  CHECK(cluster.ask_certificate({cluster.add_token(), {}, {}}, "by-hand", new_key()).status == 409);
}

TEST_CASE("a token is good until its time is over, for its secret alone, if it is for this") {
  join_test cluster;
  actors::bootstrap_token token;
  token.id = "aaaaaa";
  token.secret = "0123456789abcdef";
  token.authenticates = true;
  token.expires = cluster.now + std::chrono::minutes{5};
  const auto text = cluster.add_token(token);
  const auto status = [&](const std::string& presented) {
    return cluster.ask_certificate({presented, {}, {}}, "worker-1", new_key()).status;
  };
  CHECK(status("aaaaaa.0123456789abcdeg") == 401);
  CHECK(status("bbbbbb.0123456789abcdef") == 401);
  CHECK(status("aaaaaa.") == 401);
  CHECK(status(text) == 201);
  cluster.now += std::chrono::minutes{5};
  CHECK(status(text) == 401);
  token.expires.reset();
  token.authenticates = false;
  cluster.add_token(token);
  CHECK(status(text) == 401);
}

TEST_CASE("a token is valid for joining only") {
  join_test cluster;
  const credentials token{cluster.add_token(), {}, {}};
  for (const auto* path : {"/api", "/apis", "/openapi/v2", "/api/v1/nodes", "/api/v1/secrets",
                           "/metrics", "/troupe/v1/cluster", certificates})
    CHECK(cluster.ask(token, "GET", path).status == 403);
  CHECK(cluster.ask(token, "POST", "/troupe/v1/nodes/worker-1/leave").status == 403);
  CHECK(cluster.ask({}, "POST", certificates, "{}").status == 403);
}

TEST_CASE("a node renews its certificate with the same key and with a new one, which then counts") {
  join_test cluster;
  const auto first = new_key();
  const auto node = cluster.join("worker-1", first);
  CHECK(cluster.ask_certificate(node, "worker-1", first).status == 201);
  const auto other = cluster.ask_certificate(node, "worker-2", first);
  CHECK(other.status == 403);
  CHECK_THAT(message_of(other), Contains("for its own name only, worker-1"));

  const auto second = new_key();
  const auto answer = cluster.ask_certificate(node, "worker-1", second);
  REQUIRE(answer.status == 201);
  const credentials renewed{{}, member(read_flat_json(answer.body).value(), "certificate"), second};
  CHECK(node_key_of(cluster, "worker-1") == x509::key_hash(renewed.certificate));
  // The response may have been lost: the node requests again for the key that is now on its Node.
  CHECK(cluster.ask_certificate(node, "worker-1", second).status == 201);
  // With the old key alone all requests are refused.
  CHECK(cluster.ask_certificate(node, "worker-1", new_key()).status == 403);
  CHECK(cluster.ask_certificate(renewed, "worker-1", second).status == 201);
}

TEST_CASE("a removed node cannot renew its certificate and learns why") {
  join_test cluster;
  const auto key = new_key();
  const auto node = cluster.join("worker-1", key);
  remove_node(cluster, "worker-1");
  const auto refused = cluster.ask_certificate(node, "worker-1", key);
  CHECK(refused.status == 403);
  CHECK_THAT(message_of(refused), Contains("was removed from this cluster") && Contains("token"));
  // Another machine took the name.
  cluster.join("worker-1", new_key());
  CHECK(cluster.ask_certificate(node, "worker-1", key).status == 403);
}

TEST_CASE("whatever is sent in place of a request is refused with its reason") {
  join_test cluster;
  const credentials token{cluster.add_token(), {}, {}};
  const auto good = x509::make_request(new_key(), "n").value();
  const auto [body, reason] = GENERATE_COPY(table<std::string, std::string>({
      {"", "the body"},
      {"[]", "the body"},
      {"{", "the body"},
      {R"({"nodeName":{"a":"b"}})", "the body"},
      {R"({"nodeName":7})", "the body"},
      {"{}", "nodeName"},
      {R"({"nodeName":"../x"})", "nodeName"},
      {R"({"nodeName":"Worker"})", "nodeName"},
      {write_flat_json({{"nodeName", std::string(254, 'a')}}), "nodeName"},
      {write_flat_json({{"nodeName", "a\nb"}}), "nodeName"},
      {R"({"nodeName":"n"})", "certificateRequest"},
      {R"({"nodeName":"n","certificateRequest":"-----BEGIN CERTIFICATE REQUEST-----"})",
       "certificateRequest"},
      {write_flat_json({{"nodeName", "n"}, {"certificateRequest", good.substr(0, 100)}}),
       "certificateRequest"},
  }));
  CAPTURE(body);
  const auto answer = cluster.ask(token, "POST", certificates, body);
  CHECK(answer.status == 400);
  CHECK_THAT(message_of(answer), Contains(reason));
  CHECK(cluster.store().read().count(api::kind_of<Node>().prefix()) == 0);
}

TEST_CASE("a request that is too large is not read, and too many wait") {
  join_test cluster;
  const credentials token{cluster.add_token(), {}, {}};
  CHECK(cluster.ask(token, "POST", certificates, std::string(20'000, ' ')).status == 413);
  // On one connection: faster than the limit recovers, on a slow machine too.
  test::wire_options to;
  to.port = static_cast<std::uint16_t>(cluster.port());
  to.authority = cluster.authority();
  test::http_client client{to};
  const auto head = "Bearer " + token.token;
  int refused = 0;
  for (int i = 0; i < 2'000 && refused == 0; ++i)
    refused += client.request("POST", certificates, "{}", {{"Authorization", head}}).status == 429;
  CHECK(refused == 1);
}

TEST_CASE("a request with a foreign signature or a weak key is refused") {
  auto good = x509::make_request(new_key(), "n").value();
  CHECK(x509::read_request(good));
  // One bit of the signature, at the end.
  const auto at = good.find("\n-----END") - 6;
  good[at] = good[at] == 'A' ? 'B' : 'A';
  CHECK_FALSE(x509::read_request(good));
  CHECK_FALSE(x509::make_request("no key", "n"));
}

TEST_CASE("only the administrator learns how the cluster is joined") {
  join_test cluster;
  const auto answer = cluster.ask(cluster.administrator(), "GET", "/troupe/v1/cluster");
  REQUIRE(answer.status == 200);
  const auto reply = read_flat_json(answer.body).value();
  CHECK(member(reply, "authorityHash") == x509::key_hash(cluster.authority()));
  CHECK(member(reply, "loopback") == "true");
  CHECK(cluster.ask({}, "GET", "/troupe/v1/cluster").status == 403);
  CHECK(cluster.ask(cluster.administrator(), "GET", "/troupe/v1/what").status == 404);
}

TEST_CASE("the server shows its authority, so that a hash is enough to know it") {
  join_test cluster;
  auto socket = actors::timed_socket::connect(
      "127.0.0.1", cluster.port(), std::chrono::steady_clock::now() + std::chrono::minutes{1});
  REQUIRE(socket);
  REQUIRE(socket->start_tls("127.0.0.1"));
  const auto shown = socket->shown_certificates();
  REQUIRE(shown.size() == 2);
  CHECK(shown.back() == cluster.authority());
}

TEST_CASE("a node without pods leaves in two steps, and again without harm") {
  join_test cluster;
  const auto node = cluster.join("worker-1", new_key());
  const auto& leases = api::kind_of<api::coordination::v1::Lease>();
  const auto lease = leases.key("kube-node-lease", "worker-1");
  auto content = std::make_unique<api::coordination::v1::Lease>();
  content->mutable_metadata()->set_name("worker-1");
  content->mutable_metadata()->set_namespace_("kube-node-lease");
  cluster.write(leases, lease, std::move(content));
  const auto step = [&](const credentials& credentials, const std::string& name) {
    const auto answer =
        cluster.ask(credentials, "POST", "/troupe/v1/nodes/" + name + "/leave", "{}");
    return answer.status == 200 ? member(read_flat_json(answer.body).value(), "state")
                                : std::to_string(answer.status);
  };
  const auto other = cluster.join("worker-2", new_key());
  CHECK(step(other, "worker-1") == "403");
  CHECK(step(node, "worker-1") == "leaving");
  CHECK(step(node, "worker-1") == "gone");
  CHECK_FALSE(cluster.store().read().find(lease));
  CHECK(node_key_of(cluster, "worker-1") == "no node");
  CHECK(step(node, "worker-1") == "gone");
  CHECK(node_key_of(cluster, "worker-2") != "no node");
}

TEST_CASE("whatever is asked by whomever, joining opens its own paths and no others") {
  const join_authorizer rules;
  std::mt19937_64 random{Catch::rngSeed()};
  const auto any = [&](std::initializer_list<const char*> of) {
    return std::string{*(of.begin() + random() % of.size())};
  };
  for (int i = 0; i < 20'000; ++i) {
    user_info user;
    user.name = any({"system:node:a", "system:node:b", "system:node:", "system:bootstrap:abc123",
                     "admin", "system:anonymous", "system:node:a/leave", ""});
    for (auto n = random() % 3; n > 0; --n)
      user.groups.push_back(any({"system:nodes", "system:bootstrappers", "system:authenticated",
                                 "system:bootstrappers:troupe", "nodes", ""}));
    const auto method = any({"POST", "GET", "PUT", "DELETE", "PATCH", "HEAD"});
    const auto path =
        any({"/troupe/v1/node-certificates", "/troupe/v1/nodes/a/leave", "/troupe/v1/nodes/b/leave",
             "/troupe/v1/nodes//leave", "/troupe/v1/node-certificates/", "/troupe/v1/cluster",
             "/api/v1/nodes/a", "/api/v1/secrets", "/troupe/v1/nodes/a/leave/leave", "/"});
    const auto info = parse_request_info(method, path, query_string{});
    const bool node = user.in_group("system:nodes") && user.name.starts_with("system:node:") &&
                      user.name.size() > 12;
    const bool joins = user.in_group("system:bootstrappers");
    const bool may = method == "POST" &&
                     ((path == "/troupe/v1/node-certificates" && (joins || node)) ||
                      (node && path == "/troupe/v1/nodes/" + user.name.substr(12) + "/leave"));
    CAPTURE(user.name, user.groups, method, path);
    REQUIRE((rules.authorize(user, info, nullptr) == decision::allow) == may);
  }
}
