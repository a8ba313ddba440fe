#include "system/node.hpp"

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "build_paths.hpp"

namespace troupe::test {
namespace {

constexpr std::chrono::milliseconds ready_limit{60'000};
constexpr std::chrono::milliseconds answer_limit{60'000};
constexpr std::chrono::milliseconds end_limit{20'000};

}  // namespace

node::node(const std::filesystem::path& folder, const std::vector<std::string>& flags,
           const std::vector<std::string>& wrapper)
    : folder_{folder} {
  auto command = wrapper;
  const bool joins = !flags.empty() && flags.front() == "join";
  command.insert(command.end(),
                 {TROUPE_BINARY_DIR "/troupe", joins ? "join" : "node", "--data-dir", folder});
  if (std::find(flags.begin(), flags.end(), "--listen") == flags.end())
    command.insert(command.end(), {"--listen", "127.0.0.1:0"});
  // Independent of the machine's container runtime.
  if (std::find(flags.begin(), flags.end(), "--runtime") == flags.end())
    command.insert(command.end(), {"--runtime", "process"});
  command.insert(command.end(), flags.begin() + (joins ? 1 : 0), flags.end());
  const auto log = folder.string() + ".log";
  process_ = std::make_unique<process>(std::move(command), log);

  // ready https://HOST:PORT KUBECONFIG=PATH
  const auto line = process_->read_line(ready_limit);
  const auto host = line.find("://");
  const auto at = line.find(" KUBECONFIG=");
  if (!line.starts_with("ready ") || at == std::string::npos || host > at) {
    const auto ended = process_->wait(end_limit);
    signal(SIGKILL);
    throw std::runtime_error{"the node is not ready" +
                             (ended ? ", ended with " + std::to_string(*ended) : "") + ": " + line +
                             last_part(read_file(log))};
  }
  kubeconfig_ = line.substr(at + 12);
  const auto colon = line.rfind(':', at);
  host_ = line.substr(host + 3, colon - host - 3);
  port_ = static_cast<std::uint16_t>(std::stoul(line.substr(colon + 1)));
}

wire_options node::where() const {
  wire_options out;
  out.host = host_;
  out.port = port_;
  out.timeout = answer_limit;
  out.authority = read_file(folder_ / "pki/ca.crt");
  out.certificate = read_file(folder_ / "pki/admin.crt");
  out.private_key = read_file(folder_ / "pki/admin.key");
  return out;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in{path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::size_t resident_kb(pid_t id) {
  std::ifstream status{"/proc/" + std::to_string(id) + "/status"};
  std::string word;
  while (status >> word) {
    std::size_t value = 0;
    if (word == "VmRSS:" && status >> value) return value;
  }
  return 0;
}

}  // namespace troupe::test
