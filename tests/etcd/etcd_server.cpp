#include "etcd/etcd_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace troupe::test {

namespace {

constexpr const char* program = "/usr/bin/etcd";
// Below the ports that the kernel gives to clients, of which any program could get this one before
// its server listens.
constexpr unsigned first_port = 20'000, ports = 10'000;
constexpr int port_attempts = 100;

bool is_free(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool bound = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return bound;
}

}  // namespace

int free_port() {
  static std::atomic<unsigned> next{std::random_device{}()};
  for (int i = 0; i < port_attempts; ++i)
    if (const int port = static_cast<int>(first_port + next++ % ports); is_free(port)) return port;
  throw std::runtime_error{"no port is free"};
}

std::string etcd_server::missing() {
  return ::access(program, X_OK) == 0 ? "" : "etcd is not installed (package etcd-server)";
}

etcd_server::etcd_server(std::size_t quota_bytes, etcd_tls tls)
    : tls_{std::move(tls)},
      client_url_{fmt::format("{}://127.0.0.1:{}", tls_.certificate.empty() ? "http" : "https",
                              free_port())},
      peer_url_{fmt::format("http://127.0.0.1:{}", free_port())},
      quota_bytes_{quota_bytes} {
  start();
}

etcd_server::~etcd_server() {
  end();
}

void etcd_server::start() {
  std::vector<std::string> words{program,
                                 "--data-dir",
                                 (place_.path() / "etcd").string(),
                                 "--name",
                                 "one",
                                 "--listen-client-urls",
                                 client_url_,
                                 "--advertise-client-urls",
                                 client_url_,
                                 "--listen-peer-urls",
                                 peer_url_,
                                 "--initial-advertise-peer-urls",
                                 peer_url_,
                                 "--initial-cluster",
                                 "one=" + peer_url_,
                                 "--log-level",
                                 "error",
                                 "--enable-v2=false",
                                 "--quota-backend-bytes",
                                 std::to_string(quota_bytes_)};
  if (!tls_.certificate.empty())
    words.insert(words.end(), {"--client-cert-auth", "--trusted-ca-file", tls_.client_authorities,
                               "--cert-file", tls_.certificate, "--key-file", tls_.key});
  std::vector<char*> arguments;
  for (auto& each : words)
    arguments.push_back(each.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int each : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, each, "/dev/null", O_WRONLY, 0);
  const int failed = ::posix_spawn(&process_, program, &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error{"etcd does not start"};
}

void etcd_server::end() {
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = 0;
}

void etcd_server::signal(int number) const {
  ::kill(process_, number);
}

void etcd_server::restart() {
  end();
  start();
}

}  // namespace troupe::test
