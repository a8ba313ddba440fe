#include "server/console_fixture.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <thread>

#include "actors/kubelet/simulated_fleet.hpp"

namespace troupe::server::testing {

// Stands where the gate stands: everybody is an administrator.
class console_test::open_door final : public handler {
 public:
  explicit open_door(handler& behind) : behind_{behind} {}

  std::optional<response> admit(server::request& head) override {
    head.info = parse_request_info(head.method_text, head.path, head.query);
    head.long_running = head.info.long_running();
    head.user = user_of_certificate("admin", {std::string{masters_group}});
    return behind_.admit(head);
  }
  void serve(request_ptr what, responder answer) override {
    behind_.serve(std::move(what), std::move(answer));
  }

 private:
  handler& behind_;
};

console_test::console_test(std::shared_ptr<other_nodes> others) {
  auto opened = persistence::store::open({});
  REQUIRE(opened.has_value());
  truth_ = std::move(*opened);
  company_ = std::make_unique<runtime::system>();
  plane_ =
      std::make_unique<actors::control_plane>(*company_, *truth_, actors::control_plane_options{});
  api_server_options options;
  options.rest.observe = [this](const request_record& seen) { console_->observe(seen); };
  auto made = api_server::make(*plane_, std::move(options));
  REQUIRE(made.has_value());
  api_ = std::move(*made);
  REQUIRE(api_->create_system_objects().has_value());
  console_ = std::make_unique<console>(
      *plane_, *api_, console_options{.node = "here", .others = std::move(others)});
  door_ = std::make_unique<open_door>(*console_);
  http_ = std::make_unique<http_server>(http_options{});
  const auto bound = http_->listen({"127.0.0.1", 0}, *door_);
  REQUIRE(bound.has_value());
  where_ = *bound;
  console_->transport([this] { return http_->stats(); });
  client_.emplace(where());
}

console_test::~console_test() {
  client_.reset();
  http_->stop();
  console_->transport({});
  plane_.reset();
  company_.reset();
}

test::wire_options console_test::where() const {
  test::wire_options out;
  out.port = where_.port;
  out.tls = false;
  return out;
}

rest_answer console_test::get(const std::string& path) {
  return client_->request("GET", path, {}, {});
}

rest_answer console_test::post(const std::string& path, const std::string& body,
                               const test::http_client::fields& headers) {
  auto all = headers;
  if (!body.empty()) all.emplace("content-type", "application/json");
  return client_->request("POST", path, body, all);
}

void console_test::create_controller(const std::string& name, int replicas,
                                     std::chrono::seconds within) {
  const auto wanted = count_pods() + static_cast<std::size_t>(replicas);
  const auto answer = post(
      "/api/v1/namespaces/default/replicationcontrollers",
      fmt::format(
          R"({{"metadata":{{"name":"{0}"}},"spec":{{"replicas":{1},"selector":{{"app":"{0}"}},)"
          R"("template":{{"metadata":{{"labels":{{"app":"{0}"}}}},"spec":{{"containers":)"
          R"([{{"name":"c","image":"nginx"}}]}}}}}}}})",
          name, replicas));
  INFO(answer.text());
  REQUIRE(answer.status == 201);
  const auto deadline = std::chrono::steady_clock::now() + within;
  while (count_pods() != wanted && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  REQUIRE(count_pods() == wanted);
}

void console_test::start_nodes(std::uint32_t count) {
  actors::spawn_simulated_fleet(*company_, plane_->doors(), {.nodes = count});
}

std::size_t console_test::count_pods() {
  return truth_->read().count("/registry/pods/");
}

std::string console_test::first_pod() {
  std::string found;
  truth_->read().scan("/registry/pods/", {}, [&](std::string_view, const api::object_ptr& pod) {
    found = pod->meta().name();
    return false;
  });
  return found;
}

}  // namespace troupe::server::testing
