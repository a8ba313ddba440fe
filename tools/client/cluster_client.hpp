// What the commands that change or wait for objects need of a cluster: its API, one request at a
// time. The real one speaks HTTPS (node_client.hpp); tests hand in another.
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
  // The error: there was no answer, and why.
  virtual tl::expected<client_answer, std::string> call(const client_request& request) = 0;
};

// "/api/v1/namespaces/default/pods/web", the collection without a name.
std::string path_of(const api::kind_info& kind, std::string_view ns, std::string_view name = {});

// As users write it: "rc", "replicationcontroller", "pods", "deploy", "ReplicaSet". Null when no
// kind is called so.
api::kind_handle find_kind(std::string_view word);

// Errors are what the server said, as one line. No object is no error: null.
tl::expected<std::unique_ptr<api::body>, std::string> get_object(cluster_client& from,
                                                                 const api::kind_info& kind,
                                                                 const std::string& ns,
                                                                 const std::string& name);
// Into a list message of the kind, "PodList" for pods. `labels` as kubectl's -l, empty for all.
tl::expected<void, std::string> list_into(cluster_client& from, const api::kind_info& kind,
                                          const std::string& ns, const std::string& labels,
                                          api::body& into);
// The message of the Status that a server answered with.
std::string refusal(const client_answer& answer);

}  // namespace troupe::tools
