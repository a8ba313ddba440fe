#include "server/rest_fixture.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "actors/kubelet/simulated_fleet.hpp"
#include "server/authentication.hpp"

namespace troupe::server::testing {
namespace {

using fields = test::http_client::fields;

const rapidjson::Value* find(const rapidjson::Document& document, std::string_view path) {
  const rapidjson::Value* at = &document;
  while (!path.empty()) {
    const auto end = std::min(path.find('.'), path.size());
    const std::string name{path.substr(0, end)};
    path.remove_prefix(std::min(end + 1, path.size()));
    if (at->IsArray()) {
      const auto index = static_cast<rapidjson::SizeType>(std::stoul(name));
      if (index >= at->Size()) return nullptr;
      at = &(*at)[index];
    } else if (at->IsObject() && at->HasMember(name.c_str())) {
      at = &(*at)[name.c_str()];
    } else {
      return nullptr;
    }
  }
  return at;
}

template <class F>
auto look(const std::string& text, std::string_view path, F with) {
  rapidjson::Document document;
  document.Parse(text.c_str());
  return with(document.HasParseError() ? nullptr : find(document, path));
}

}  // namespace

std::string json_text::at(std::string_view path) const {
  return look(text_, path, [](const rapidjson::Value* found) -> std::string {
    if (found == nullptr) return {};
    if (found->IsString()) return {found->GetString(), found->GetStringLength()};
    rapidjson::StringBuffer out;
    rapidjson::Writer<rapidjson::StringBuffer> writer{out};
    found->Accept(writer);
    return out.GetString();
  });
}

bool json_text::has(std::string_view path) const {
  return look(text_, path, [](const rapidjson::Value* found) { return found != nullptr; });
}

std::size_t json_text::size(std::string_view path) const {
  return look(text_, path, [](const rapidjson::Value* found) -> std::size_t {
    if (found == nullptr) return 0;
    return found->IsArray() ? found->Size() : found->IsObject() ? found->MemberCount() : 0;
  });
}

// -- watches --------------------------------------------------------------------------------------

watching::watching(const test::wire_options& where, const std::string& path, const fields& headers)
    : client_{where} {
  client_.send_request("GET", path, {}, headers);
  const auto head = client_.receive_head();
  status_ = head.status;
  content_type_ = head.header("content-type");
}

std::optional<json_text> watching::next() {
  for (;;) {
    const auto end = unread_.find('\n');
    if (end != std::string::npos) {
      auto line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return json_text{std::move(line)};
    }
    const auto chunk = client_.next_chunk();
    if (!chunk) return std::nullopt;
    unread_ += *chunk;
  }
}

std::string watching::bytes(std::size_t count) {
  while (unread_.size() < count) {
    const auto chunk = client_.next_chunk();
    if (!chunk) break;
    unread_ += *chunk;
  }
  auto out = unread_.substr(0, count);
  unread_.erase(0, count);
  return out;
}

// -- the server -----------------------------------------------------------------------------------

// Stands where the gate stands: everybody is an administrator.
class rest_test::open_door final : public handler {
 public:
  explicit open_door(handler& api) : api_{api} {}

  std::optional<response> admit(server::request& head) override {
    head.info = parse_request_info(head.method_text, head.path, head.query);
    head.long_running = head.info.long_running();
    head.user = user_of_certificate("admin", {std::string{masters_group}});
    return api_.admit(head);
  }
  void serve(request_ptr what, responder answer) override {
    api_.serve(std::move(what), std::move(answer));
  }

 private:
  handler& api_;
};

rest_test::rest_test(rest_test_options options) {
  persistence::store_options in_memory;
  in_memory.history_revisions = options.history_revisions;
  in_memory.history_time = std::chrono::seconds{0};
  auto opened = persistence::store::open(std::move(in_memory));
  REQUIRE(opened.has_value());
  truth_ = std::move(*opened);
  company_ = std::make_unique<runtime::system>();
  plane_ = std::make_unique<actors::control_plane>(
      *company_, *truth_,
      actors::control_plane_options{.controllers = options.simulated_nodes > 0,
                                    .capacity = options.capacity});
  auto made = api_server::make(*plane_, {.rest = std::move(options.rest)});
  REQUIRE(made.has_value());
  api_ = std::move(*made);
  REQUIRE(api_->create_system_objects().has_value());
  if (options.simulated_nodes > 0) {
    actors::simulated_fleet_options fleet;
    fleet.nodes = options.simulated_nodes;
    actors::spawn_simulated_fleet(*company_, plane_->doors(), std::move(fleet));
  }
  door_ = std::make_unique<open_door>(*api_);
  http_ = std::make_unique<http_server>(http_options{});
  const auto bound = http_->listen({"127.0.0.1", 0}, *door_);
  REQUIRE(bound.has_value());
  where_ = *bound;
  client_.emplace(where());
}

rest_test::~rest_test() {
  client_.reset();
  http_->stop();
  plane_.reset();
  company_.reset();
}

test::wire_options rest_test::where() const {
  test::wire_options out;
  out.port = where_.port;
  out.tls = false;
  return out;
}

rest_answer rest_test::request(const std::string& method, const std::string& path,
                               const std::string& body, const fields& headers) {
  auto all = headers;
  if (!body.empty()) all.emplace("content-type", "application/json");
  return client_->request(method, path, body, all);
}

rest_answer rest_test::get(const std::string& path, const fields& headers) {
  return request("GET", path, {}, headers);
}
rest_answer rest_test::post(const std::string& path, const std::string& body,
                            const fields& headers) {
  return request("POST", path, body, headers);
}
rest_answer rest_test::put(const std::string& path, const std::string& body,
                           const fields& headers) {
  return request("PUT", path, body, headers);
}
rest_answer rest_test::patch(const std::string& path, const std::string& form,
                             const std::string& body) {
  const auto type = form == "json"    ? "application/json-patch+json"
                    : form == "merge" ? "application/merge-patch+json"
                                      : "application/strategic-merge-patch+json";
  return request("PATCH", path, body, {{"content-type", type}});
}
rest_answer rest_test::remove(const std::string& path, const std::string& body) {
  return request("DELETE", path, body, {});
}

rest_answer rest_test::create_pod(const std::string& name, const std::string& labels,
                                  const std::string& space) {
  auto answer = post("/api/v1/namespaces/" + space + "/pods", pod_json(name, labels));
  INFO(answer.text());
  REQUIRE(answer.status == 201);
  return answer;
}

void rest_test::create_pods(int count) {
  for (int i = 0; i < count; ++i)
    create_pod(fmt::format("p{:03}", i));
}

std::size_t rest_test::count_actors(std::string_view kind) {
  std::size_t count = 0;
  company_->actors().each([&](const runtime::actor_info& each) { count += each.kind == kind; });
  return count;
}

bool rest_test::eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

std::string pod_json(const std::string& name, const std::string& labels, const std::string& extra) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","labels":{}}},"spec":{{{}"containers":[{{"name":"c","image":"nginx:1"}}]}}}})",
      name, labels, extra);
}

}  // namespace troupe::server::testing
