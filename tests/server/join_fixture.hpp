// A control plane behind its real front, on a port of its own: tokens, certificates, nodes.
#pragma once

#include <memory>
#include <string>

#include "actors/bootstrap_token.hpp"
#include "actors/control_plane.hpp"
#include "persistence/store.hpp"
#include "runtime/system.hpp"
#include "server/front.hpp"
#include "server/join/flat_json.hpp"
#include "server/join/join_api.hpp"
#include "server/rest/api_server.hpp"
#include "support/http_client.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::server::testing {

struct join_test_options {
  std::chrono::milliseconds life = std::chrono::hours{720};
  // With controllers and so many nodes that play their pods.
  std::uint32_t simulated_nodes = 0;
};

// Who asks, in PEM; neither: nobody in particular.
struct credentials {
  std::string token;
  std::string certificate, private_key;
};

class join_test {
 public:
  explicit join_test(join_test_options options = {});
  ~join_test();

  persistence::store& truth() noexcept { return *truth_; }
  int port() const { return front_->where().port; }
  join_api& api() noexcept { return *join_; }
  std::string authority() const;
  credentials administrator() const;

  // The whole token, in the store.
  std::string add_token(const actors::bootstrap_token& what);
  std::string add_token();

  test::http_answer ask(const credentials& who, const std::string& method, const std::string& path,
                        const std::string& body = {});
  // POST node-certificates with that key.
  test::http_answer ask_certificate(const credentials& who, const std::string& node,
                                    const std::string& key);
  // The certificate of a node that joins; the answer is 201.
  credentials join(const std::string& node, const std::string& key);

  // Writes without the API; content null: removes.
  void write(const api::kind_info& kind, const std::string& key,
             std::unique_ptr<api::body> content);

  actors::token_time now = std::chrono::system_clock::now();

 private:
  test::scratch_folder folder_;
  std::unique_ptr<persistence::store> truth_;
  std::unique_ptr<runtime::system> company_;
  std::unique_ptr<actors::control_plane> plane_;
  std::unique_ptr<api_server> api_;
  std::unique_ptr<join_api> join_;
  health_checks health_;
  std::unique_ptr<front> front_;
};

// Subject and uses of a certificate as openssl prints them.
std::string printed(const std::string& certificate);
std::string message_of(const test::http_answer& answer);

}  // namespace troupe::server::testing
