#include "server/join_fixture.hpp"

#include <openssl/bio.h>
#include <openssl/pem.h>

#include <catch2/catch.hpp>
#include <future>

#include "actors/kubelet/simulated_fleet.hpp"
#include "api/codec.hpp"
#include "api/schema/meta_request.pb.h"
#include "api/scheme.hpp"
#include "server/join/bootstrap_tokens.hpp"
#include "server/join/join_authorizer.hpp"
#include "server/private_file.hpp"

namespace troupe::server::testing {

namespace {

std::string text_of(const std::filesystem::path& path) {
  return read_private_file(path).value().value_or("");
}

runtime::system_options two_threads() {
  runtime::system_options options;
  options.threads = 2;
  return options;
}

}  // namespace

join_test::join_test(join_test_options options)
    : truth_{persistence::store::open({}).value()},
      company_{std::make_unique<runtime::system>(two_threads())} {
  actors::control_plane_options plane;
  plane.controllers = options.simulated_nodes > 0;
  plane_ = std::make_unique<actors::control_plane>(*company_, *truth_, std::move(plane));
  api_ = api_server::make(*plane_, {}).value();
  REQUIRE(api_->create_system_objects());
  const auto signer = std::make_shared<node_signer>(options.life);
  join_ = std::make_unique<join_api>(api_->services(), signer, *api_);
  join_->link_address(":7443");
  front_options from;
  from.listen = {"127.0.0.1", 0};
  from.data_dir = folder_.path();
  front_parts parts;
  parts.api = join_.get();
  parts.health = &health_;
  parts.tokens = {std::make_shared<bootstrap_tokens>(*truth_, [this] { return now; })};
  parts.permissions = authorization{{std::make_shared<join_authorizer>()}};
  parts.signer = signer;
  auto started = front::start(std::move(from), std::move(parts));
  INFO((started ? std::string{} : started.error()));
  REQUIRE(started);
  front_ = std::move(*started);
  join_->addresses({to_string(front_->where()), true});
  if (options.simulated_nodes > 0) {
    actors::simulated_fleet_options fleet;
    fleet.nodes = options.simulated_nodes;
    actors::spawn_simulated_fleet(*company_, plane_->doors(), std::move(fleet));
  }
}

join_test::~join_test() {
  front_->stop();
}

std::string join_test::authority() const {
  return text_of(folder_.path() / "pki" / "ca.crt");
}

credentials join_test::administrator() const {
  return {{},
          text_of(folder_.path() / "pki" / "admin.crt"),
          text_of(folder_.path() / "pki" / "admin.key")};
}

void join_test::write(const api::kind_info& kind, const std::string& key,
                      std::unique_ptr<api::body> content) {
  persistence::transaction what;
  what.mutations.push_back({key, &kind, std::move(content)});
  std::promise<bool> done;
  truth_->submit(std::move(what),
                 [&](persistence::outcome result) { done.set_value(result.has_value()); });
  REQUIRE(done.get_future().get());
}

std::string join_test::add_token(const actors::bootstrap_token& what) {
  const auto& kind = api::kind_of<api::core::v1::Secret>();
  write(kind, kind.key(actors::bootstrap_token_namespace, actors::bootstrap_token_name(what.id)),
        actors::write_bootstrap_token(what));
  return what.id + "." + what.secret;
}

std::string join_test::add_token() {
  actors::bootstrap_token token;
  token.id = "abc123";
  token.secret = "0123456789abcdef";
  token.authenticates = true;
  token.expires = now + std::chrono::hours{1};
  return add_token(token);
}

test::http_answer join_test::ask(const credentials& who, const std::string& method,
                                 const std::string& path, const std::string& body) {
  test::wire_options to;
  to.port = front_->where().port;
  to.authority = authority();
  to.certificate = who.certificate;
  to.private_key = who.private_key;
  test::http_client::fields headers;
  if (!who.token.empty()) headers["Authorization"] = "Bearer " + who.token;
  if (!body.empty()) headers["Content-Type"] = "application/json";
  return test::http_client{to}.request(method, path, body, headers);
}

test::http_answer join_test::ask_certificate(const credentials& who, const std::string& node,
                                             const std::string& key) {
  return ask(who, "POST", "/troupe/v1/node-certificates",
             write_flat_json({{"nodeName", node},
                              {"certificateRequest", x509::make_request(key, "whoever").value()}}));
}

credentials join_test::join(const std::string& node, const std::string& key) {
  const auto answer = ask_certificate({add_token(), {}, {}}, node, key);
  INFO(answer.body);
  REQUIRE(answer.status == 201);
  return {{}, member(read_flat_json(answer.body).value(), "certificate"), key};
}

std::string printed(const std::string& certificate) {
  BIO* in = ::BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size()));
  X509* parsed = ::PEM_read_bio_X509(in, nullptr, nullptr, nullptr);
  ::BIO_free_all(in);
  REQUIRE(parsed != nullptr);
  BIO* out = ::BIO_new(::BIO_s_mem());
  ::X509_print(out, parsed);
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  std::string text{data, static_cast<std::size_t>(size)};
  ::BIO_free_all(out);
  ::X509_free(parsed);
  return text;
}

std::string message_of(const test::http_answer& answer) {
  api::meta::v1::Status status;
  if (!api::decode_into(answer.body, api::media::json, status)) return answer.body;
  return status.message();
}

}  // namespace troupe::server::testing
