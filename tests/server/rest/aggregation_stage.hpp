// A server of an aggregated API in a pod, in memory, and the API in front of it.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/values/base64.hpp"
#include "server/credentials/front_proxy.hpp"
#include "server/credentials/pki.hpp"
#include "server/credentials/tls_identity.hpp"
#include "server/credentials/x509.hpp"
#include "server/fixtures/http_backend.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::server::testing {

inline const std::string api_services = "/apis/apiregistration.k8s.io/v1/apiservices";
inline const std::string root = "/apis/ext.example.com/v1";
inline const std::string things = root + "/namespaces/default/things";
inline const std::string pods = "/api/v1/namespaces/default/pods";
inline const std::string slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
inline const test::http_client::fields aggregated{
    {"accept",
     "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"}};

inline const std::string resources = R"({"kind":"APIResourceList","apiVersion":"v1",
  "groupVersion":"ext.example.com/v1","resources":[
  {"name":"things","singularName":"thing","namespaced":true,"kind":"Thing",
   "verbs":["create","get","list","watch"],"shortNames":["th"]},
  {"name":"things/status","singularName":"","namespaced":true,"kind":"Thing","verbs":["get"]}]})";

inline std::string answer_of(std::string_view body, std::string_view head = "200 OK") {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", head,
      body.size(), body);
}

inline std::string in_base64(std::string_view text) {
  std::string out;
  api::append_base64(out, text);
  return out;
}

// A server of ext.example.com/v1 in a pod, and the API in front of it.
struct aggregation_stage {
  test::scratch_folder folder;
  const std::unique_ptr<server::pki> keys =
      server::pki::open({folder.path() / "pki", {}}, std::chrono::system_clock::now()).value();
  const server::x509::validity valid{std::chrono::system_clock::now() - std::chrono::hours{1},
                                     std::chrono::system_clock::now() + std::chrono::hours{1}};
  const server::x509::identity authority = server::x509::make_authority("extension", valid).value();
  const std::shared_ptr<server::front_proxy> front = std::make_shared<server::front_proxy>();
  const std::shared_ptr<http_backend> backend = std::make_shared<http_backend>();
  std::atomic<bool> fails{false};
  std::optional<rest_test> server;

  explicit aggregation_stage(const std::string& name = "ext.default.svc") {
    if (!keys->renew_front_proxy(std::chrono::system_clock::now())) std::abort();
    front->replace(keys->front_proxy());
    const auto shown = server::x509::issue(authority, {"a server", {}, {name}, valid}).value();
    backend->tls = server::tls_identity::make(
                       {shown.certificate, shown.private_key, front->credentials().authority})
                       .value()
                       ->context();
    backend->respond = [this](const std::string& request) { return respond(request); };
    server.emplace(rest_test_options{.rest = {.streams = backend, .front_proxy = front}});
    server->create_pod("web");
    server->post(pods + "/web/binding", R"({"target":{"kind":"Node","name":"n1"}})");
  }

  std::string respond(const std::string& request) const {
    if (fails) return answer_of("{}", "500 Internal Server Error");
    if (request.starts_with("GET " + root + " ")) return answer_of(resources);
    return answer_of(R"({"kind":"Thing","said":"here"})");
  }

  void serve() {
    server->post("/api/v1/namespaces/default/services",
                 R"({"metadata":{"name":"ext"},"spec":{"ports":[{"port":443}]}})");
    const auto uid = server->get(pods + "/web").at("metadata.uid");
    CHECK(server
              ->post(slices, fmt::format(
                                 R"({{"metadata":{{"name":"ext-1","labels":
            {{"kubernetes.io/service-name":"ext"}}}},"addressType":"IPv4",
            "ports":[{{"name":"","port":8443,"protocol":"TCP"}}],"endpoints":[
            {{"addresses":["10.0.0.7"],"targetRef":{{"kind":"Pod","name":"web",
            "namespace":"default","uid":"{}"}}}}]}})",
                                 uid))
              .status == 201);
  }

  rest_answer register_api(const std::string& trust, const std::string& group = "ext.example.com",
                           int priority = 2000) {
    return server->post(
        api_services,
        fmt::format(R"({{"metadata":{{"name":"v1.{}"}},"spec":{{"group":"{}","version":"v1",
          "groupPriorityMinimum":{},"versionPriority":15,
          "service":{{"namespace":"default","name":"ext"}},{}}}}})",
                    group, group, priority, trust));
  }
  std::string bundle() const { return R"("caBundle":")" + in_base64(authority.certificate) + "\""; }

  std::string condition(std::string_view member, const std::string& group = "ext.example.com") {
    return server->get(api_services + "/v1." + group)
        .at("status.conditions.0." + std::string{member});
  }
  bool comes_to(const std::string& reason, const std::string& group = "ext.example.com") {
    return rest_test::eventually([&] { return condition("reason", group) == reason; });
  }
};

}  // namespace troupe::server::testing
