// The console before the REST API, on a port of its own, with the controllers running.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "server/authentication.hpp"
#include "server/console/console.hpp"
#include "server/rest_fixture.hpp"

namespace troupe::server::testing {

class console_test {
 public:
  explicit console_test(std::shared_ptr<other_nodes> others = nullptr);
  ~console_test();

  actors::control_plane& plane() noexcept { return *plane_; }
  runtime::system& company() noexcept { return *company_; }
  test::wire_options where() const;

  rest_answer get(const std::string& path);
  // The console's: "actors?top=3".
  rest_answer show(const std::string& path) { return get("/console/api/" + path); }
  rest_answer post(const std::string& path, const std::string& body,
                   const test::http_client::fields& headers = {});
  // With the right to change something.
  rest_answer control(const std::string& path) {
    return post("/console/api/" + path, "", {{"x-troupe-control", "allow"}});
  }
  // A replication controller of so many pods; returns when there are as many.
  void create_controller(const std::string& name, int replicas,
                         std::chrono::seconds within = std::chrono::seconds{10});
  // Simulated ones, that run what is bound to them.
  void start_nodes(std::uint32_t count);
  std::size_t count_pods();
  std::string first_pod();

 private:
  class open_door;

  std::unique_ptr<persistence::store> truth_;
  std::unique_ptr<runtime::system> company_;
  std::unique_ptr<actors::control_plane> plane_;
  std::unique_ptr<console> console_;  // told of requests for as long as the API answers
  std::unique_ptr<api_server> api_;
  std::unique_ptr<open_door> door_;
  std::unique_ptr<http_server> http_;
  endpoint where_;
  std::optional<test::http_client> client_;
};

}  // namespace troupe::server::testing
