// A node with a containerd that the bench starts, and a client of that runtime without a node.
// Errors end the bench.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/kubelet/runtimes/cri/cri_client.hpp"
#include "benchmark/node.hpp"
#include "support/programs/private_containerd.hpp"

namespace troupe::bench {

inline const std::string core = "/api/v1/namespaces/default/";
inline const std::string image = R"("image":"localhost/tools:1","imagePullPolicy":"Never")";

struct bare_pod {
  std::string sandbox, container;
};

// Its calls return when the runtime has answered.
class bare_client {
 public:
  bare_client(const std::string& socket, std::string folder);

  // Makes the calls of a kubelet for a pod, one after the other.
  bare_pod start(int number, const std::vector<std::string>& command);
  void remove(const bare_pod& pod);
  void run(const std::string& container, const std::string& command);
  // Waits until the container's status shows its end.
  void await_end(const std::string& container);
  // Returns the address of the streams of the command "true".
  std::string exec(const std::string& container);
  // Returns the address of a stream to a pod's ports.
  std::string forward(const std::string& pod);

 private:
  template <class Response, class Request>
  Response call(const char* method, const Request& request);

  actors::cri_client client_;
  const std::string folder_;
};

struct container_node {
  // False, and the reason on standard error, if no containerd is installed.
  static bool can_run();

  explicit container_node(const std::string& program);
  // Waits until no pod is left, and the node has removed their files, mounts and sandboxes.
  void await_no_pods() const;

  const scratch place;
  const test::private_containerd server;
  bare_client bare;
  const node n;
};

void must(const test::http_answer& answer);
void post(const node& n, const std::string& path, const std::string& body);
void await_no_pods(const node& n);

// The value that follows `before` in `text`, up to a quotation mark or the end of the line.
std::string after(const std::string& text, const std::string& before);

// Names of pods in a phase, from a watch.
class pods_in_phase {
 public:
  explicit pods_in_phase(const node& n, const std::string& phase = "Running");
  void await(std::size_t count);

 private:
  void take(std::string_view event);

  const std::string phase_;
  test::http_client client_;
  std::string text_;
  std::set<std::string> names_;
};

}  // namespace troupe::bench
