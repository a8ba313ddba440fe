// CertificateSigningRequests: requests that the four signers accept, approval, clean-up.
#include <catch2/catch.hpp>

#include "actors/certificates/certificate_issuer.hpp"
#include "actors/certificates/certificate_request.hpp"
#include "actors/core/condition.hpp"
#include "actors/write/admission_fixture.hpp"
#include "api/schema/rbac_v1.pb.h"

namespace troupe::test {

using namespace actors::certificates;

namespace {

// By openssl req -x509 -days 2910000: it ends in the year 9994.
constexpr const char* lasting_certificate = R"(-----BEGIN CERTIFICATE-----
MIIBdDCCARmgAwIBAgIUGrKJjA9QhLywA3EWLvnku93B7IQwCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDZmFyMCAXDTI2MTEyNzAyMjI1OFoYDzk5OTQwMzIwMDIyMjU4
WjAOMQwwCgYDVQQDDANmYXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS7U9UV
MsE/EfopMYtccIWN0S8Qe+dZfb/6duI9UN+2YYkVezUFK0VsWqRyunY8+clGClva
gb7y4/Ab9kUfy3X/o1MwUTAdBgNVHQ4EFgQUWm/PqQwEOPIIjtZ9VUU4wf8Fziww
HwYDVR0jBBgwFoAUWm/PqQwEOPIIjtZ9VUU4wf8FziwwDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNJADBGAiEAzZjRHn17MR5HXcIFKl280weiw9fFPiHDlUzr
nn8cTW4CIQDQ9L+riJVOV3odUN2KEUN17/oljQeuVBQeuFOsACpCKw==
-----END CERTIFICATE-----
)";
// Made by openssl req of EC keys P-256: the requests of a kubelet as a client (CN=system:node:n1,
// O=system:nodes), of one as a server (with the name n1), and of a user (CN=jane, O=dev).
constexpr const char* node_request = R"(-----BEGIN CERTIFICATE REQUEST-----
MIHsMIGSAgEAMDAxFTATBgNVBAoMDHN5c3RlbTpub2RlczEXMBUGA1UEAwwOc3lz
dGVtOm5vZGU6bjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR7TXqNl0Vmy0eW
FU+tjY2z+8DHt3+oIAsFQenqE4iyhHWKJdQkIVdZxE6dB5CAGh4EGbUXVI2DEp6S
TsDhPppJoAAwCgYIKoZIzj0EAwIDSQAwRgIhAN8IkKjPMjMhSfThn6tKjFx0zBxl
jlG3g8Z6mSpFNK0AAiEAsth3KX3u+DvwbY0MC33v1XVY7PIhGyF4NSUS7f3VYZg=
-----END CERTIFICATE REQUEST-----
)";
constexpr const char* server_request = R"(-----BEGIN CERTIFICATE REQUEST-----
MIIBEDCBuAIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEe016jZdFZstH
lhVPrY2Ns/vAx7d/qCALBUHp6hOIsoR1iiXUJCFXWcROnQeQgBoeBBm1F1SNgxKe
kk7A4T6aSaAmMCQGCSqGSIb3DQEJDjEXMBUwEwYDVR0RBAwwCoICbjGHBMAAAgEw
CgYIKoZIzj0EAwIDRwAwRAIgDzLw9+cB5hNNeaA7Icy/++Cq4yU0viZod5gR9nYa
FX8CIFA23jbmhBlo5SXa65qeLXLNYtL50du4g24DdbcHYTIq
-----END CERTIFICATE REQUEST-----
)";
constexpr const char* user_request = R"(-----BEGIN CERTIFICATE REQUEST-----
MIHXMH8CAQAwHTEMMAoGA1UECgwDZGV2MQ0wCwYDVQQDDARqYW5lMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEe016jZdFZstHlhVPrY2Ns/vAx7d/qCALBUHp6hOI
soR1iiXUJCFXWcROnQeQgBoeBBm1F1SNgxKekk7A4T6aSaAAMAoGCCqGSM49BAMC
A0gAMEUCIQDw1h4mwykdKTJLWnEn5Oqj7du4xkdKjShV90/pxrD/YgIgWtdNpuQ+
1qu2zZINOLKzKV/jj4RUqiXyAy22m4wFEJM=
-----END CERTIFICATE REQUEST-----
)";

// As the first, with names that no rule of a signer covers: the extension occurs twice, has a
// name of another kind (otherName), cannot be parsed.
constexpr const char* requests_with_odd_names[] = {
    R"(-----BEGIN CERTIFICATE REQUEST-----
MIIBHzCBxgIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1/mlZnWC34Vw
A+fPwzA4ksHIofg9k/6h9+kByjEjmn7eAhptFG86lU+lBFxZsXm3jkdJRX/lT8nb
CilTdcVc6aA0MDIGCSqGSIb3DQEJDjElMCMwDwYDVR0RBAgwBoIEZXZpbDAQBgNV
HREECTAHggVldmlsMjAKBggqhkjOPQQDAgNIADBFAiEA1CGi2g7Gq1phZrIZ7EiG
7uB0IW+Mf/oB4hoDU10QMKQCIAUxFbu+xZ5Ozya76KEoVc6HLHiyuaiF8FfPyyiC
TJ6g
-----END CERTIFICATE REQUEST-----
)",
    R"(-----BEGIN CERTIFICATE REQUEST-----
MIIBEzCBugIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1/mlZnWC34Vw
A+fPwzA4ksHIofg9k/6h9+kByjEjmn7eAhptFG86lU+lBFxZsXm3jkdJRX/lT8nb
CilTdcVc6aAoMCYGCSqGSIb3DQEJDjEZMBcwFQYDVR0RBA4wDKAKBgMqAwSgAwwB
eDAKBggqhkjOPQQDAgNIADBFAiEA/oYP0ouPUwKeX17FQji0fafy1r+Zm5oZGuBs
KYe+jYcCIHvvMtRLLusqKUYc8VtdLxIeGn6idgR9RHS65kmR3ZRE
-----END CERTIFICATE REQUEST-----
)",
    R"(-----BEGIN CERTIFICATE REQUEST-----
MIIBCDCBrwIBADAwMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFzAVBgNVBAMMDnN5
c3RlbTpub2RlOm4xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1/mlZnWC34Vw
A+fPwzA4ksHIofg9k/6h9+kByjEjmn7eAhptFG86lU+lBFxZsXm3jkdJRX/lT8nb
CilTdcVc6aAdMBsGCSqGSIb3DQEJDjEOMAwwCgYDVR0RBAMwBXgwCgYIKoZIzj0E
AwIDSAAwRQIhANtsGJfK+rFPeb2xaMWcabfSpcVc5G25BbRuUqn6dwanAiB6FuT3
jMiDK3lkSanD3ZAFXEJdNMn3JJ5vhgppS3Sg/Q==
-----END CERTIFICATE REQUEST-----
)"};

const runtime::wall_time noon{std::chrono::seconds{1'700'000'000}};

CertificateSigningRequestSpec spec_of(std::string_view signer, const std::string& request,
                                      std::initializer_list<const char*> usages) {
  CertificateSigningRequestSpec spec;
  spec.set_signer_name(std::string{signer});
  spec.set_request(request);
  for (const auto* usage : usages)
    spec.add_usages(usage);
  return spec;
}

std::string fault_of(std::string_view signer, const std::string& request,
                     std::initializer_list<const char*> usages) {
  const auto facts = read_request(request);
  REQUIRE(facts);
  return find_fault(spec_of(signer, request, usages), *facts);
}

CertificateSigningRequest request_of(const CertificateSigningRequestSpec& spec) {
  CertificateSigningRequest made;
  made.mutable_metadata()->set_name("r");
  *made.mutable_spec() = spec;
  return made;
}

// Signs with a word instead of a certificate.
struct fake_issuer final : actors::certificate_issuer {
  bool is_ready() const override { return ready; }
  tl::expected<std::string, std::string> certify(
      const actors::certificate_options& options) const override {
    return "certificate for " +
           std::to_string((options.until - options.from).count() /
                          runtime::wall_time::duration{std::chrono::seconds{1}}.count());
  }
  bool ready = true;
};

// A cluster that handles CertificateSigningRequests.
struct signing_cluster {
  explicit signing_cluster(std::uint64_t seed = 1) : cluster{seed, options()} {}

  cluster_options options() const {
    cluster_options made;
    made.plane.certificates = issuer;
    return made;
  }
  CertificateSigningRequest request() { return cluster.get<CertificateSigningRequest>({}, "r"); }

  std::shared_ptr<fake_issuer> issuer = std::make_shared<fake_issuer>();
  test::cluster cluster;
};

void add_condition(CertificateSigningRequest& to, const std::string& type,
                   runtime::wall_time at = noon) {
  auto& condition = *to.mutable_status()->add_conditions();
  condition.set_type(type);
  condition.set_status("True");
  condition.mutable_last_update_time()->set_seconds(actors::seconds_of(at));
}

}  // namespace

TEST_CASE("A request is read for its subject and its alternative names", "[certificates]") {
  const auto node = read_request(node_request);
  REQUIRE(node);
  CHECK(node->common_name == "system:node:n1");
  CHECK(node->organizations == std::vector<std::string>{"system:nodes"});
  CHECK_FALSE(node->dns_names);
  const auto server = read_request(server_request);
  REQUIRE(server);
  CHECK(server->dns_names);
  CHECK(server->addresses);
  CHECK_FALSE(server->emails);
  CHECK_FALSE(read_request(""));
  CHECK_FALSE(read_request(std::string{node_request}.substr(0, 200)));
}

TEST_CASE("A request with alternative names of an unsupported form is not signed",
          "[certificates]") {
  for (const auto* text : requests_with_odd_names) {
    const auto odd = read_request(text);
    REQUIRE_FALSE(odd);
    CHECK(odd.error() ==
          "its subjectAltNames must be one extension with names of DNS, IP, email or URI only");
  }
}

TEST_CASE("A joined machine gets no certificate that would outlast its Node", "[certificates]") {
  const auto facts = read_request(node_request);
  REQUIRE(facts);
  auto spec = spec_of(kubelet_client_signer, node_request, {"digital signature", "client auth"});
  spec.set_username("system:node:n1");
  spec.add_groups("system:nodes");
  CHECK(approved_by(spec, *facts).size() == 2);
  spec.add_groups("troupe:joined-nodes");
  CHECK(approved_by(spec, *facts).empty());
}

TEST_CASE("Each signer accepts the same requests as upstream's", "[certificates]") {
  const auto client = {"digital signature", "client auth"};
  const auto client_rsa = {"key encipherment", "digital signature", "client auth"};
  const auto server = {"digital signature", "server auth"};
  CHECK(fault_of(kubelet_client_signer, node_request, client).empty());
  CHECK(fault_of(kubelet_client_signer, node_request, client_rsa).empty());
  CHECK(fault_of(kubelet_client_signer, node_request, server) ==
        "usages did not match [client auth digital signature key encipherment]");
  CHECK(fault_of(kubelet_client_signer, node_request, {"client auth"}) ==
        "usages did not match [client auth digital signature key encipherment]");
  CHECK(fault_of(kubelet_client_signer, server_request, client) ==
        "DNS subjectAltNames are not allowed");
  CHECK(fault_of(kubelet_client_signer, user_request, client) ==
        "subject organization is not system:nodes");
  CHECK(fault_of(kubelet_serving_signer, server_request, server).empty());
  CHECK(fault_of(kubelet_serving_signer, server_request, client) ==
        "usages did not match [digital signature key encipherment server auth]");
  CHECK(fault_of(kubelet_serving_signer, node_request, server) ==
        "DNS or IP subjectAltName is required");
  CHECK(fault_of(client_signer, user_request, {"client auth"}).empty());
  CHECK(fault_of(client_signer, user_request, {"digital signature"}) ==
        "missing required usage for client certificate: client auth");
  CHECK(fault_of(client_signer, user_request, {"client auth", "server auth"}) ==
        "invalid usage for client certificate: server auth");
  CHECK(fault_of(legacy_signer, user_request, {"server auth"}).empty());
  CHECK_FALSE(is_signed_here("example.com/other"));
}

TEST_CASE("A certificate has the requested duration, between ten minutes and a year",
          "[certificates]") {
  auto spec = spec_of(client_signer, user_request, {"client auth"});
  const auto seconds = [&] {
    const auto lifetime = lifetime_of(spec, noon);
    CHECK(lifetime.from == noon - std::chrono::minutes{5});
    return std::chrono::duration_cast<std::chrono::seconds>(lifetime.until - noon).count();
  };
  CHECK(seconds() == 365 * 86'400 - 300);
  spec.set_expiration_seconds(3'600);
  CHECK(seconds() == 3'600);
  spec.set_expiration_seconds(86'400);
  CHECK(seconds() == 86'400 - 300);
  spec.set_expiration_seconds(1);
  CHECK(seconds() == 600);
  spec.set_expiration_seconds(2'000'000'000);
  CHECK(seconds() == 365 * 86'400 - 300);
}

TEST_CASE("Requests are kept for an hour after a decision, and a day without one",
          "[certificates]") {
  using std::chrono::hours;
  using std::chrono::seconds;
  auto request = request_of(spec_of(client_signer, user_request, {"client auth"}));
  request.mutable_metadata()->mutable_creation_timestamp()->set_seconds(actors::seconds_of(noon));
  CHECK_FALSE(is_outdated(request, noon + hours{24}));
  CHECK(is_outdated(request, noon + hours{24} + seconds{1}));
  add_condition(request, "Denied");
  CHECK_FALSE(is_outdated(request, noon + hours{1}));
  CHECK(is_outdated(request, noon + hours{1} + seconds{1}));
}

TEST_CASE("A request whose certificate ends after the year 2262 is kept", "[certificates]") {
  auto request = request_of(spec_of("example.com/other", user_request, {"client auth"}));
  request.mutable_metadata()->mutable_creation_timestamp()->set_seconds(actors::seconds_of(noon));
  request.mutable_status()->set_certificate(lasting_certificate);
  CHECK_FALSE(is_outdated(request, noon));
}

TEST_CASE("An approved request is signed, a denied one and one of another signer are not",
          "[certificates]") {
  signing_cluster s;
  auto& c = s.cluster;
  c.create(request_of(spec_of(client_signer, user_request, {"client auth"})));
  c.settle();
  CHECK(s.request().status().certificate().empty());
  c.change<CertificateSigningRequest>(
      {}, "r", [&](CertificateSigningRequest& r) { add_condition(r, "Approved", c.now()); });
  CHECK(c.run_until([&] { return !s.request().status().certificate().empty(); }));
  CHECK(s.request().status().certificate() == "certificate for 31536000");

  auto denied = request_of(spec_of(client_signer, user_request, {"client auth"}));
  denied.mutable_metadata()->set_name("denied");
  c.create(denied);
  c.change<CertificateSigningRequest>(
      {}, "denied", [&](CertificateSigningRequest& r) { add_condition(r, "Denied", c.now()); });
  auto foreign = request_of(spec_of("example.com/x", user_request, {"client auth"}));
  foreign.mutable_metadata()->set_name("foreign");
  c.create(foreign);
  c.change<CertificateSigningRequest>(
      {}, "foreign", [&](CertificateSigningRequest& r) { add_condition(r, "Approved", c.now()); });
  c.settle();
  for (const auto* name : {"denied", "foreign"})
    CHECK(c.get<CertificateSigningRequest>({}, name).status().certificate().empty());
}

TEST_CASE("A request that its signer rejects fails with the reason", "[certificates]") {
  signing_cluster s;
  auto& c = s.cluster;
  c.create(request_of(spec_of(client_signer, user_request, {"server auth"})));
  c.change<CertificateSigningRequest>(
      {}, "r", [&](CertificateSigningRequest& r) { add_condition(r, "Approved", c.now()); });
  const auto failed = [&] {
    return actors::find_condition(s.request().status().conditions(), "Failed") != nullptr;
  };
  REQUIRE(c.run_until(failed));
  const auto request = s.request();
  const auto& condition = *actors::find_condition(request.status().conditions(), "Failed");
  CHECK(condition.reason() == "SignerValidationFailure");
  CHECK(condition.message() == "invalid usage for client certificate: server auth");
}

TEST_CASE("A kubelet's request is approved if its user may create nodeclient", "[certificates]") {
  signing_cluster s;
  auto& c = s.cluster;
  const auto approved = [&] {
    const auto request = s.request();
    return actors::find_condition(request.status().conditions(), "Approved") != nullptr;
  };
  auto request = request_of(
      spec_of(kubelet_client_signer, node_request, {"digital signature", "client auth"}));
  c.create(request);
  c.settle();
  CHECK_FALSE(approved());

  api::rbac::v1::ClusterRole role;
  role.mutable_metadata()->set_name("approve");
  auto& rule = *role.add_rules();
  rule.add_verbs("create");
  rule.add_api_groups("certificates.k8s.io");
  rule.add_resources("certificatesigningrequests/nodeclient");
  c.create(role);
  api::rbac::v1::ClusterRoleBinding binding;
  binding.mutable_metadata()->set_name("approve");
  binding.mutable_role_ref()->set_api_group("rbac.authorization.k8s.io");
  binding.mutable_role_ref()->set_kind("ClusterRole");
  binding.mutable_role_ref()->set_name("approve");
  auto& subject = *binding.add_subjects();
  subject.set_kind("User");
  subject.set_api_group("rbac.authorization.k8s.io");
  subject.set_name("system:kube-controller-manager");
  c.create(binding);
  c.remove<CertificateSigningRequest>({}, "r");
  c.create(request);
  CHECK(c.run_until([&] { return approved() && !s.request().status().certificate().empty(); }));
}

TEST_CASE("Requests wait until the signing key exists, then all are signed", "[certificates]") {
  signing_cluster s;
  auto& c = s.cluster;
  s.issuer->ready = false;
  c.create(request_of(spec_of(client_signer, user_request, {"client auth"})));
  c.change<CertificateSigningRequest>(
      {}, "r", [&](CertificateSigningRequest& r) { add_condition(r, "Approved", c.now()); });
  c.advance(std::chrono::seconds{5});
  CHECK(s.request().status().certificate().empty());
  CHECK(s.request().status().conditions_size() == 1);
  s.issuer->ready = true;
  CHECK(c.run_until([&] { return !s.request().status().certificate().empty(); }));
}

TEST_CASE("Signing continues after a crash between any two messages", "[certificates]") {
  signing_cluster s;
  auto& c = s.cluster;
  c.create(request_of(spec_of(client_signer, user_request, {"client auth"})));
  c.crash("certificate-requests", "certificate-requests");
  c.change<CertificateSigningRequest>(
      {}, "r", [&](CertificateSigningRequest& r) { add_condition(r, "Approved", c.now()); });
  c.crash("certificate-requests", "certificate-requests");
  CHECK(c.run_until([&] { return !s.request().status().certificate().empty(); }));
}

TEST_CASE("A request is deleted within an hour after its retention", "[certificates]") {
  signing_cluster s;
  auto& c = s.cluster;
  c.create(request_of(spec_of("example.com/x", user_request, {"client auth"})));
  c.settle();
  CHECK(c.run_until([&] { return !c.find<CertificateSigningRequest>({}, "r"); },
                    std::chrono::hours{26}));
}

}  // namespace troupe::test
