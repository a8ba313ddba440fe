#include "persistence/etcd/client/channel.hpp"

#include <absl/synchronization/mutex.h>
#include <spdlog/fmt/fmt.h>

#include <fstream>
#include <sstream>
#include <string_view>

namespace troupe::persistence::etcd {

namespace {

constexpr std::string_view secure = "https://", plain = "http://";

expected<std::string> read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return fail(errc::io, fmt::format("{} cannot be read", path));
  return text.str();
}

expected<std::shared_ptr<grpc::ChannelCredentials>> credentials(const etcd_options& options) {
  grpc::SslCredentialsOptions made;
  for (const auto& [path, text] : {std::pair{&options.ca_file, &made.pem_root_certs},
                                   {&options.certificate_file, &made.pem_cert_chain},
                                   {&options.key_file, &made.pem_private_key}}) {
    if (path->empty()) continue;
    auto read = read_file(*path);
    if (!read) return fail(std::move(read.error()));
    *text = std::move(*read);
  }
  return grpc::SslCredentials(made);
}

}  // namespace

expected<std::shared_ptr<grpc::Channel>> dial(const std::string& endpoint,
                                              const etcd_options& options) {
  // Debian's Abseil checks for deadlocks at each of gRPC's locks.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  // Callers retry; and gRPC's own retries abort the program on a response without a status, as from
  // a member that shuts down (grpc/grpc#34683, fixed in 2026).
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // gRPC would call members through the proxy that http_proxy names, which is for other addresses.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 300);
  if (endpoint.starts_with(plain))
    return grpc::CreateCustomChannel(endpoint.substr(plain.size()),
                                     grpc::InsecureChannelCredentials(), arguments);
  if (!endpoint.starts_with(secure))
    return fail(errc::invalid,
                fmt::format("{} is no endpoint of etcd: https://HOST:PORT is", endpoint));
  auto made = credentials(options);
  if (!made) return fail(std::move(made.error()));
  return grpc::CreateCustomChannel(endpoint.substr(secure.size()), *made, arguments);
}

}  // namespace troupe::persistence::etcd
