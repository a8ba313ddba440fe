#include "persistence/etcd/client/channel.hpp"

#include <absl/synchronization/mutex.h>
#include <spdlog/fmt/fmt.h>

#include <string_view>

namespace troupe::persistence::etcd {

namespace {

constexpr std::string_view secure = "https://", plain = "http://";

}  // namespace

bool is_secure(const std::string& endpoint) {
  return endpoint.starts_with(secure);
}

expected<std::shared_ptr<grpc::Channel>> dial(const std::string& endpoint,
                                              const credentials& shown) {
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
  if (!is_secure(endpoint))
    return fail(errc::invalid,
                fmt::format("{} is no endpoint of etcd: https://HOST:PORT is", endpoint));
  const auto made = grpc::SslCredentials({.pem_root_certs = shown.authorities,
                                          .pem_private_key = shown.key,
                                          .pem_cert_chain = shown.certificate});
  return grpc::CreateCustomChannel(endpoint.substr(secure.size()), made, arguments);
}

expected<std::shared_ptr<grpc::Channel>> dial(const std::string& endpoint,
                                              const etcd_options& options) {
  if (!is_secure(endpoint)) return dial(endpoint, credentials{});
  const auto shown = read_credentials(options);
  if (!shown) return fail(shown.error());
  return dial(endpoint, *shown);
}

}  // namespace troupe::persistence::etcd
