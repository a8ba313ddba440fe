// Machines that join a control plane: the program itself, twice, on one machine.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "build_paths.hpp"
#include "server/credentials/kubeconfig.hpp"
#include "support/scratch_folder.hpp"
#include "tools/child.hpp"
#include "tools/client/node_client.hpp"
#include "tools/console_node.hpp"

using namespace troupe;
using namespace troupe::tools::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using test::scratch_folder;

namespace {

std::vector<std::string> join_line(const console_node& node) {
  const auto made = program({"token", "create", "--data-dir", node.folder()});
  INFO(made.err);
  REQUIRE(made.code == 0);
  std::istringstream words{made.out};
  std::vector<std::string> all;
  for (std::string word; words >> word;)
    all.push_back(word);
  all.erase(all.begin());  // troupe
  return all;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

int mode_of(const std::filesystem::path& path) {
  struct stat state {};
  REQUIRE(::stat(path.c_str(), &state) == 0);
  return static_cast<int>(state.st_mode & 0777);
}

bool eventually(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::yield();
  }
  return true;
}

// A machine, as far as a folder of its own makes one.
class machine {
 public:
  explicit machine(std::string name, std::string runtime = "simulated")
      : name_{std::move(name)}, runtime_{std::move(runtime)} {}

  std::string folder() const { return (folder_.path() / "data").string(); }
  std::string kubeconfig() const { return folder() + "/admin.kubeconfig"; }
  std::filesystem::path joined(const char* file) const {
    return folder_.path() / "data" / "join" / file;
  }
  std::vector<std::string> arguments(std::vector<std::string> line) const {
    for (const auto& each : {std::string{"--data-dir"}, folder(), std::string{"--runtime"},
                             runtime_, std::string{"--node-name"}, name_})
      line.push_back(each);
    return line;
  }
  // A process that keeps running; `line` is {"join"} for a machine that has joined before.
  std::unique_ptr<child> start(const std::vector<std::string>& line) const {
    return std::make_unique<child>([&] {
      auto all = arguments(line);
      all.insert(all.begin(), "troupe");
      std::vector<char*> pointers;
      for (auto& each : all)
        pointers.push_back(each.data());
      pointers.push_back(nullptr);
      ::execv(TROUPE_BINARY_DIR "/troupe", pointers.data());
      return 127;
    });
  }
  process_result try_join(const std::vector<std::string>& line) const {
    return program(arguments(line));
  }
  process_result leave(std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"leave", "--data-dir", folder()};
    all.insert(all.end(), more.begin(), more.end());
    return program(all);
  }

 private:
  const std::string name_, runtime_;
  scratch_folder folder_;
};

bool joins(child& process, const std::string& name) {
  const bool done = process.says(" as " + name + "\n");
  INFO(process.err());
  CHECK(done);
  return done;
}

void stop(child& process) {
  process.signal(SIGTERM);
  const auto code = process.wait();
  INFO(process.err());
  CHECK(code == 0);
}

template <class Node>
bool becomes(const Node& node, const std::string& target, const std::string& condition) {
  const auto waited = program({"wait", target, "--for", condition, "--timeout", "60s", "--poll",
                               "50ms", "--data-dir", node.folder()});
  INFO(waited.err);
  CHECK(waited.code == 0);
  return waited.code == 0;
}

template <class Node>
int ask(const Node& node, const std::string& method, const std::string& path,
        const std::string& body = {}) {
  const auto access = server::read_kubeconfig(node.kubeconfig()).value();
  const auto to = tools::node_client::make(access).value();
  return to->call({.method = method, .path = path, .body = body}).value().status;
}

// The only container of the node with that data; 0: none runs.
pid_t process_of_container(const std::filesystem::path& data) {
  pid_t container = 0;
  std::error_code none;
  for (const auto& each :
       std::filesystem::recursive_directory_iterator{data / "kubelet" / "pods", none})
    if (each.path().filename() == "running") {
      std::istringstream fields{text_of(each.path())};
      std::string skipped;
      fields >> skipped >> skipped >> container;
    }
  return container;
}

}  // namespace

TEST_CASE("a machine joins by the printed line, goes on without it, and leaves") {
  const console_node node;
  const machine worker{"worker-1"};
  const auto line = join_line(node);
  auto process = worker.start(line);
  REQUIRE(joins(*process, "worker-1"));
  CHECK(becomes(node, "node/worker-1", "condition=Ready"));
  CHECK(mode_of(worker.joined("")) == 0700);
  for (const char* file : {"node.key", "node.crt", "ca.crt", "cluster.json"})
    CHECK(mode_of(worker.joined(file)) == 0600);
  CHECK_THAT(worker.try_join(line).err, Contains("in use by another node"));

  stop(*process);
  CHECK_THAT(process->err(), !Contains("0123456789") && !Contains(line[3]));
  process = worker.start({"join"});
  REQUIRE(joins(*process, "worker-1"));

  const machine other{"worker-1"};
  const auto taken = other.try_join(join_line(node));
  CHECK(taken.code == 1);
  CHECK_THAT(taken.err, Contains("has a node worker-1 already") && Contains("--node-name"));

  const auto left = worker.leave();
  INFO(left.err);
  CHECK(left.code == 0);
  CHECK_FALSE(std::filesystem::exists(worker.joined("")));
  process->wait();
  CHECK(ask(node, "GET", "/api/v1/nodes/worker-1") == 404);
  CHECK(ask(node, "GET",
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-1") == 404);
  CHECK_THAT(worker.leave().err, Contains("has joined no cluster"));
}

TEST_CASE("a node that leaves brings its pods to an end first") {
  const console_node node;
  const machine worker{"worker-1"};
  auto process = worker.start(join_line(node));
  REQUIRE(joins(*process, "worker-1"));
  REQUIRE(becomes(node, "node/worker-1", "condition=Ready"));
  REQUIRE(becomes(node, "serviceaccount/default", "metadata.name=default"));
  for (const char* name : {"a", "b"})
    REQUIRE(
        ask(node, "POST", "/api/v1/namespaces/default/pods",
            std::string{R"({"metadata":{"name":")"} + name +
                R"("},"spec":{"nodeName":"worker-1","containers":[{"name":"c","image":"i"}]}})") ==
        201);
  REQUIRE(becomes(node, "pod/a", "condition=Ready"));
  REQUIRE(becomes(node, "pod/b", "condition=Ready"));
  const auto left = worker.leave();
  INFO(left.err);
  CHECK(left.code == 0);
  CHECK_THAT(left.err, Contains("waiting for 2 pods to end: default/a,default/b"));
  CHECK(ask(node, "GET", "/api/v1/namespaces/default/pods/a") == 404);
}

TEST_CASE(
    "nothing of a cluster stays on a machine that leaves by force: no key, secret or process") {
  const console_node node;
  const machine worker{"worker-1", "process"};
  auto process = worker.start(join_line(node));
  REQUIRE(joins(*process, "worker-1"));
  REQUIRE(becomes(node, "node/worker-1", "condition=Ready"));
  REQUIRE(becomes(node, "serviceaccount/default", "metadata.name=default"));
  REQUIRE(ask(node, "POST", "/api/v1/namespaces/default/secrets",
              R"({"metadata":{"name":"hush"},"data":{"key":"aHVzaC1odXNo"}})") == 201);
  REQUIRE(ask(node, "POST", "/api/v1/namespaces/default/pods",
              R"({"metadata":{"name":"a"},"spec":{"nodeName":"worker-1","volumes":[{"name":"s",)"
              R"("secret":{"secretName":"hush"}}],"containers":[{"name":"c","image":"i",)"
              R"("command":["sleep","3600"]}]}})") == 201);
  REQUIRE(becomes(node, "pod/a", "condition=Ready"));
  const std::filesystem::path data{worker.folder()};
  std::ofstream{data / "kubelet" / "mine"} << "a file of the user's\n";
  const auto container = process_of_container(data);
  REQUIRE(container > 0);
  process->signal(SIGKILL);
  process->wait();
  REQUIRE(::kill(container, 0) == 0);  // it outlives its node
  for (int again = 0; again < 2; ++again)
    worker.leave({"--force"});
  CHECK(eventually([&] { return ::kill(container, 0) != 0; }));
  std::vector<std::string> left;
  for (const auto& each : std::filesystem::recursive_directory_iterator{data})
    if (each.is_regular_file()) left.push_back(each.path().lexically_relative(data));
  std::sort(left.begin(), left.end());
  CHECK(left == std::vector<std::string>{"kubelet/mine", "node.lock"});
  CHECK(text_of("/proc/self/mountinfo").find(data.string()) == std::string::npos);
}

TEST_CASE("what the only node of a cluster left running when it was killed is ended by force") {
  const machine only{"only", "process"};
  const scratch_folder elsewhere;
  const bool has_own_root = GENERATE(false, true);
  const auto root = has_own_root ? elsewhere.path() : std::filesystem::path{only.folder()};
  std::vector<std::string> line{"node", "--listen", "127.0.0.1:0", "--network-mode", "none"};
  if (has_own_root) line.insert(line.end(), {"--root-dir", (root / "kubelet").string()});
  auto process = only.start(line);
  REQUIRE(process->says("KUBECONFIG="));
  REQUIRE(becomes(only, "node/only", "condition=Ready"));
  REQUIRE(becomes(only, "serviceaccount/default", "metadata.name=default"));
  REQUIRE(ask(only, "POST", "/api/v1/namespaces/default/pods",
              R"({"metadata":{"name":"a"},"spec":{"volumes":[{"name":"m","emptyDir":)"
              R"({"medium":"Memory"}}],"containers":[{"name":"c","image":"i",)"
              R"("command":["sleep","3600"]}]}})") == 201);
  REQUIRE(becomes(only, "pod/a", "condition=Ready"));
  const auto container = process_of_container(root);
  REQUIRE(container > 0);
  process->signal(SIGKILL);
  process->wait();
  REQUIRE(::kill(container, 0) == 0);
  CHECK_THAT(only.leave().err, Contains("use --force to end its pods"));
  CHECK(::kill(container, 0) == 0);

  const auto left = only.leave({"--force"});
  CHECK(left.code == 0);
  CHECK_THAT(left.err, Contains("the cluster's state stays in " + only.folder()));
  CHECK(eventually([&] { return ::kill(container, 0) != 0; }));
  CHECK_FALSE(std::filesystem::exists(root / "kubelet/pods"));
  CHECK(text_of("/proc/self/mountinfo").find(root.string()) == std::string::npos);
  // The stored state is complete: the next start creates the pod's container again.
  process = only.start(line);
  REQUIRE(process->says("KUBECONFIG="));
  CHECK(eventually([&] { return process_of_container(root) > 0; }));
  REQUIRE(ask(only, "DELETE", "/api/v1/namespaces/default/pods/a?gracePeriodSeconds=0") == 200);
  stop(*process);
}

TEST_CASE("a node whose pods do not end stays cordoned, and names them") {
  const console_node node;
  const machine worker{"worker-1"};
  auto process = worker.start(join_line(node));
  REQUIRE(joins(*process, "worker-1"));
  REQUIRE(becomes(node, "node/worker-1", "condition=Ready"));
  REQUIRE(becomes(node, "serviceaccount/default", "metadata.name=default"));
  REQUIRE(ask(node, "POST", "/api/v1/namespaces/default/pods",
              R"({"metadata":{"name":"a"},"spec":)"
              R"({"nodeName":"worker-1","containers":[{"name":"c","image":"i"}]}})") == 201);
  REQUIRE(becomes(node, "pod/a", "condition=Ready"));
  process->signal(SIGSTOP);
  const auto late = worker.leave({"--timeout", "1s"});
  CHECK(late.code == 1);
  CHECK_THAT(late.err, Contains("1 pods of node worker-1 have not ended in time (default/a)") &&
                           Contains("--force"));
  // Reported once, however often it is polled.
  CHECK(late.err.find("waiting for") == late.err.rfind("waiting for"));
  process->signal(SIGKILL);
  process->wait();
  const auto alone = worker.leave();
  CHECK(alone.code == 1);
  CHECK_THAT(alone.err, Contains("and no process here ends them") && Contains("troupe join"));
  CHECK(std::filesystem::exists(worker.joined("cluster.json")));
  CHECK(ask(node, "GET", "/api/v1/nodes/worker-1") == 200);
  CHECK(worker.leave({"--force"}).code == 0);
  CHECK(ask(node, "GET", "/api/v1/nodes/worker-1") == 404);
}

TEST_CASE("a deleted node is expelled and reports it") {
  const console_node node;
  const machine worker{"worker-1"};
  auto process = worker.start(join_line(node));
  REQUIRE(joins(*process, "worker-1"));
  REQUIRE(ask(node, "DELETE", "/api/v1/nodes/worker-1") == 200);
  CHECK(process->wait() == 1);
  CHECK_THAT(process->err(), Contains("was removed"));
  CHECK(worker.leave().code == 0);
}

TEST_CASE("a node that was deleted joins again with a new token, and with no old one") {
  const console_node node;
  const machine worker{"worker-1"};
  const auto line = join_line(node);
  {
    auto process = worker.start(line);
    REQUIRE(joins(*process, "worker-1"));
    stop(*process);
  }
  REQUIRE(ask(node, "DELETE", "/api/v1/nodes/worker-1") == 200);
  for (const auto& old : {line, {"join"}}) {
    const auto refused = worker.try_join(old);
    CHECK(refused.code == 1);
    CHECK_THAT(refused.err, Contains("join it again with a new token"));
  }
  auto process = worker.start(join_line(node));
  REQUIRE(joins(*process, "worker-1"));
  CHECK(becomes(node, "node/worker-1", "condition=Ready"));
  stop(*process);
}

TEST_CASE("an invalid new token leaves a node's membership unchanged") {
  const console_node node;
  const machine worker{"worker-1"};
  auto line = join_line(node);
  auto process = worker.start(line);
  REQUIRE(joins(*process, "worker-1"));
  stop(*process);
  for (auto& word : line)
    if (word.size() == 23 && word[6] == '.') word = "aaaaaa.bbbbbbbbbbbbbbbb";
  process = worker.start(line);
  REQUIRE(joins(*process, "worker-1"));
  stop(*process);
  CHECK_THAT(process->err(), Contains("cannot join again") && Contains("the token is unknown"));
}

TEST_CASE("a node that is deleted leaves nothing of its pods running") {
  const console_node node;
  const machine worker{"worker-1", "process"};
  auto process = worker.start(join_line(node));
  REQUIRE(joins(*process, "worker-1"));
  REQUIRE(becomes(node, "node/worker-1", "condition=Ready"));
  REQUIRE(becomes(node, "serviceaccount/default", "metadata.name=default"));
  const auto long_time = "300." + std::to_string(::getpid());
  const auto sleepers = [&] {
    int count = 0;
    std::error_code problem;
    for (const auto& each : std::filesystem::directory_iterator{"/proc", problem})
      count +=
          text_of(each.path() / "cmdline").starts_with("sleep" + std::string(1, 0) + long_time);
    return count;
  };
  for (const char* name : {"a", "b"})
    REQUIRE(ask(node, "POST", "/api/v1/namespaces/default/pods",
                std::string{R"({"metadata":{"name":")"} + name +
                    R"("},"spec":{"nodeName":"worker-1","terminationGracePeriodSeconds":600,)"
                    R"("containers":[{"name":"c","image":"i","command":["sleep",")" +
                    long_time + R"("]}]}})") == 201);
  REQUIRE(eventually([&] { return sleepers() == 2; }));
  REQUIRE(ask(node, "DELETE", "/api/v1/nodes/worker-1") == 200);
  CHECK(process->wait() == 1);
  CHECK_THAT(process->err(), Contains("was removed"));
  // Killed processes end a moment later.
  CHECK(eventually([&] { return sleepers() == 0; }));
}

TEST_CASE(
    "a data dir of one cluster joins no other, and leaves without its cluster by force only") {
  const machine worker{"worker-1"};
  std::vector<std::string> line;
  {
    const console_node node;
    auto process = worker.start(join_line(node));
    REQUIRE(joins(*process, "worker-1"));
    process->signal(SIGTERM);
    process->wait();
  }
  const console_node another;
  const auto refused = worker.try_join(join_line(another));
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, Contains("has joined another cluster") && Contains("troupe leave"));
  const auto waits = worker.leave();
  CHECK(waits.code == 1);
  CHECK_THAT(waits.err, Contains("cannot be informed") && Contains("--force"));
  const auto forced = worker.leave({"--force"});
  CHECK(forced.code == 0);
  CHECK_THAT(forced.err, Contains("kubectl delete node worker-1"));
  CHECK_FALSE(std::filesystem::exists(worker.joined("")));
}

TEST_CASE("a node renews its certificate by itself, and goes on") {
  // It has a third of it for the renewal.
  const console_node node{{"--server-node-certificate-life", "12s"}};
  const machine worker{"worker-1"};
  auto process = worker.start(join_line(node));
  REQUIRE(joins(*process, "worker-1"));
  const auto first = text_of(worker.joined("node.crt"));
  const auto key = text_of(worker.joined("node.key"));
  REQUIRE(eventually([&] { return text_of(worker.joined("node.crt")) != first; }));
  const auto second = text_of(worker.joined("node.crt"));
  REQUIRE(eventually([&] { return text_of(worker.joined("node.crt")) != second; }));
  CHECK(text_of(worker.joined("node.key")) == key);
  CHECK(becomes(node, "node/worker-1", "condition=Ready"));
  // Through the newest one: the first has ended long ago.
  stop(*process);
}
