// The REST API on a port of its own, over a control plane on a store in memory, and a client that
// looks into JSON.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/control_plane.hpp"
#include "persistence/store.hpp"
#include "runtime/system.hpp"
#include "server/http_server.hpp"
#include "server/rest/api_server.hpp"
#include "support/http_client.hpp"

namespace troupe::server::testing {

// JSON text with access by paths such as "items.0.metadata.name".
class json_text {
 public:
  explicit json_text(std::string text) : text_{std::move(text)} {}

  // Strings as they are, other values as JSON; empty where there is no such value.
  std::string at(std::string_view path) const;
  bool has(std::string_view path) const;
  // Of a list or an object; 0 where there is none.
  std::size_t size(std::string_view path) const;
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

struct rest_answer : json_text {
  rest_answer(const test::http_answer& from)
      : json_text{from.body}, status{from.status}, headers{from.headers} {}
  int status;
  std::map<std::string, std::string> headers;
};

// A watch that is open, on a connection of its own.
class watching {
 public:
  watching(const test::wire_options& where, const std::string& path,
           const test::http_client::fields& headers = {});

  int status() const noexcept { return status_; }
  std::string content_type() const { return content_type_; }
  // The next event; nothing when the watch has ended or says nothing for the client's time-out.
  std::optional<json_text> next();
  // So many bytes of the stream, for frames that are no lines.
  std::string bytes(std::size_t count);

 private:
  test::http_client client_;
  int status_;
  std::string content_type_;
  std::string unread_;
};

struct rest_test_options {
  persistence::revision history_revisions = 100'000;
  rest_options rest = {};
  // With controllers and so many nodes that play their pods; 0: objects alone.
  std::uint32_t simulated_nodes = 0;
  actors::capacity_options capacity = {};
};

class rest_test {
 public:
  explicit rest_test(rest_test_options options = {});
  ~rest_test();

  persistence::store& truth() noexcept { return *truth_; }
  actors::control_plane& plane() noexcept { return *plane_; }
  api_server& api() noexcept { return *api_; }
  test::wire_options where() const;

  rest_answer get(const std::string& path, const test::http_client::fields& headers = {});
  rest_answer post(const std::string& path, const std::string& body,
                   const test::http_client::fields& headers = {});
  rest_answer put(const std::string& path, const std::string& body,
                  const test::http_client::fields& headers = {});
  // `form` is "json", "merge" or "strategic".
  rest_answer patch(const std::string& path, const std::string& form, const std::string& body);
  rest_answer remove(const std::string& path, const std::string& body = {});

  rest_answer request(const std::string& method, const std::string& path, const std::string& body,
                      const test::http_client::fields& headers);

  // Creates a pod with one container; the answer is 201.
  rest_answer create_pod(const std::string& name, const std::string& labels = R"({"app":"web"})",
                         const std::string& space = "default");
  // Creates `count` pods "p000", "p001" ... in the namespace default.
  void create_pods(int count);

  // Live actors of that kind.
  std::size_t count_actors(std::string_view kind);
  // False when it does not come to hold within ten seconds.
  static bool eventually(const std::function<bool()>& holds);

 private:
  class open_door;

  std::unique_ptr<persistence::store> truth_;
  std::unique_ptr<runtime::system> company_;
  std::unique_ptr<actors::control_plane> plane_;
  std::unique_ptr<api_server> api_;
  std::unique_ptr<open_door> door_;
  std::unique_ptr<http_server> http_;
  endpoint where_;
  std::optional<test::http_client> client_;
};

// The JSON of a pod; `extra` goes into its spec, e.g. R"("nodeName":"n1",)".
std::string pod_json(const std::string& name, const std::string& labels = R"({"app":"web"})",
                     const std::string& extra = {});

}  // namespace troupe::server::testing
