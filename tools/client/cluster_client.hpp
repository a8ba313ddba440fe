// The API of a cluster, one request at a time, for commands that change objects or wait for them.
// node_client.hpp implements it over HTTPS; tests use another implementation.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::tools {

struct client_request {
  std::string method = "GET";
  std::string path;
  std::string body;
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers = {};
};

struct client_answer {
  int status = 0;
  std::string body;
};

class cluster_client {
 public:
  virtual ~cluster_client() = default;
  // Error: why there was no response.
  virtual tl::expected<client_answer, std::string> call(const client_request& request) = 0;
};

// "/api/v1/namespaces/default/pods/web"; without a name, the path of the collection.
std::string path_of(const api::kind_info& kind, std::string_view ns, std::string_view name = {});

// Accepts the names that users write: "rc", "replicationcontroller", "pods", "deploy",
// "ReplicaSet". Null if no kind has this name.
api::kind_handle find_kind(std::string_view word);

// Errors are the server's message as one line. Null if the object does not exist.
tl::expected<std::unique_ptr<api::body>, std::string> get_object(cluster_client& from,
                                                                 const api::kind_info& kind,
                                                                 const std::string& ns,
                                                                 const std::string& name);
// Reads a list message of the kind ("PodList" for pods). `labels` as kubectl's -l; empty for all.
tl::expected<void, std::string> list_into(cluster_client& from, const api::kind_info& kind,
                                          const std::string& ns, const std::string& labels,
                                          api::body& into);
// The message of the Status in the server's response.
std::string refusal(const client_answer& answer);

}  // namespace troupe::tools
