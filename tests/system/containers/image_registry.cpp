#include "system/containers/image_registry.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "support/programs/shell.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"

namespace troupe::test {
namespace {

constexpr timeval client_limit{10, 0};
constexpr std::size_t longest_head = 16'384;
constexpr const char* manifest_type = "application/vnd.oci.image.manifest.v1+json";
constexpr std::size_t digest_digits = 64;

// Empty if the client sends none in time.
std::string read_head(int client) {
  std::string head;
  std::array<char, 4'096> part{};
  while (head.find("\r\n\r\n") == std::string::npos && head.size() < longest_head) {
    const auto size = ::recv(client, part.data(), part.size(), 0);
    if (size <= 0) return {};
    head.append(part.data(), static_cast<std::size_t>(size));
  }
  return head;
}

void send_all(int client, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto size = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

std::string response(const std::string& status, const std::string& type, const std::string& digest,
                     const std::string& body, bool head_only) {
  auto out =
      fmt::format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
                  status, type, body.size());
  if (!digest.empty()) out += "Docker-Content-Digest: sha256:" + digest + "\r\n";
  return out + "\r\n" + (head_only ? "" : body);
}

}  // namespace

image_registry::image_registry(std::filesystem::path folder)
    : folder_{std::move(folder)}, listening_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  int ends[2];
  if (::bind(listening_.get(), any, size) != 0 || ::listen(listening_.get(), SOMAXCONN) != 0 ||
      ::getsockname(listening_.get(), any, &size) != 0 || ::pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error{"the registry cannot listen"};
  ended_ = runtime::unique_fd{ends[0]};
  end_ = runtime::unique_fd{ends[1]};
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{[this] { serve(); }};
}

image_registry::~image_registry() {
  end_.reset();
  thread_.join();
}

void image_registry::add(const std::string& name, const std::filesystem::path& archive, truth how) {
  const auto unpacked = folder_ / archive.stem();
  const auto done = shell(
      fmt::format("mkdir -p {0} && tar -xf {1} -C {0} 2>&1", unpacked.string(), archive.string()));
  if (done.code != 0) throw std::runtime_error{done.output};
  repository made;
  made.how = how;
  const auto index = read_file(unpacked / "index.json");
  const auto digest = index.find("sha256:");
  if (digest == std::string::npos) throw std::runtime_error{archive.string() + " has no image"};
  made.manifest = index.substr(digest + 7, digest_digits);
  for (const auto& each : std::filesystem::directory_iterator{unpacked / "blobs/sha256"})
    made.blobs[each.path().filename().string()] = read_file(each.path());
  const std::lock_guard lock{mutex_};
  repositories_[name] = std::move(made);
}

void image_registry::replace_all(const std::filesystem::path& folder) const {
  const auto place = folder / "registries/_default";
  std::filesystem::create_directories(place);
  const auto url = fmt::format("http://127.0.0.1:{}", port_);
  write_file(place / "hosts.toml",
             fmt::format("server = \"{0}\"\n[host.\"{0}\"]\ncapabilities = [\"pull\", "
                         "\"resolve\"]\n",
                         url));
}

// One client after another, each with a time limit.
void image_registry::serve() {
  for (;;) {
    std::array<pollfd, 2> waiting{pollfd{listening_.get(), POLLIN, 0},
                                  pollfd{ended_.get(), POLLIN, 0}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[1].revents != 0) return;
    const runtime::unique_fd client{::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (client.get() < 0) continue;
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
      ::setsockopt(client.get(), SOL_SOCKET, option, &client_limit, sizeof client_limit);
    if (const auto head = read_head(client.get()); !head.empty())
      send_all(client.get(), response_to(head));
  }
}

// GET or HEAD /v2/REPOSITORY/manifests/TAG or .../blobs/sha256:DIGEST
std::string image_registry::response_to(const std::string& head) {
  const auto begin = head.find(' ') + 1;
  const auto path = head.substr(begin, head.find_first_of(" ?", begin) - begin);
  const bool head_only = head.starts_with("HEAD ");
  const std::string manifests = "/manifests/", blobs = "/blobs/", digests = "sha256:";
  const bool is_manifest = path.find(manifests) != std::string::npos;
  const auto at = path.find(is_manifest ? manifests : blobs);
  const auto none = response("404 Not Found", "application/json", "",
                             R"({"errors":[{"code":"NAME_UNKNOWN"}]})", head_only);
  if (!path.starts_with("/v2/") || at == std::string::npos || at < 4) return none;
  const std::lock_guard lock{mutex_};
  const auto found = repositories_.find(path.substr(4, at - 4));
  if (found == repositories_.end()) return none;
  const auto& from = found->second;
  auto digest = path.substr(at + (is_manifest ? manifests : blobs).size());
  digest = digest.starts_with(digests) ? digest.substr(digests.size()) : from.manifest;
  if (is_manifest && from.how == truth::other_manifest) {
    const std::string false_digest(digest_digits, 'a');
    return response("200 OK", manifest_type, false_digest, from.blobs.at(from.manifest), head_only);
  }
  const auto blob = from.blobs.find(digest);
  if (blob == from.blobs.end()) return none;
  auto body = blob->second;
  // The others are JSON.
  const bool is_layer = !body.starts_with('{');
  if (is_layer && from.how == truth::other_layer) body.back() = static_cast<char>(body.back() ^ 1);
  if (is_layer && from.how == truth::longer_layer) body += std::string(100'000, '\0');
  return response("200 OK", is_manifest ? manifest_type : "application/octet-stream", digest, body,
                  head_only);
}

}  // namespace troupe::test
