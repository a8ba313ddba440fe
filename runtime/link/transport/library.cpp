#include "runtime/link/transport/library.hpp"

#include <grpc/grpc.h>
#include <grpc/grpc_security_constants.h>
#include <grpc/support/log.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>

#include <mutex>
#include <string_view>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/certificate.hpp"
#include "runtime/link/transport/log.hpp"
#include "runtime/link/transport/text.hpp"

namespace troupe::runtime::link {
namespace {

// Unknown clients decide how often gRPC logs: everything is logged at debug except its final
// message before an abort.
void write_log(gpr_log_func_args* line) {
  const std::string_view text = line->message;
  const bool dies = text.substr(0, 16) == "assertion failed";
  log().log(dies ? spdlog::level::critical : spdlog::level::debug, "grpc: {}:{}: {}", line->file,
            line->line, text);
}

int in_ms(duration time) {
  return static_cast<int>(time / std::chrono::milliseconds{1});
}

// Channel arguments of both sides. `set` takes a name and a number.
template <class Set>
void set_up_connection(Set set) {
  set(GRPC_ARG_KEEPALIVE_TIME_MS, in_ms(defaults::keepalive_period));
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, in_ms(defaults::keepalive_limit));
  set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  set(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  set(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, static_cast<int>(defaults::read_ahead_bytes));
  // Plus the packet's other fields and the tags of its frames.
  set(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, static_cast<int>(defaults::packet_limit_bytes + 4'096));
  set(GRPC_ARG_MAX_METADATA_SIZE, defaults::metadata_limit_bytes);
  set(GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0);
  set(GRPC_ARG_ENABLE_CHANNELZ, 0);
}

}  // namespace

void use_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function(write_log);
    gpr_set_log_verbosity(log().should_log(spdlog::level::debug) ? GPR_LOG_SEVERITY_INFO
                                                                 : GPR_LOG_SEVERITY_ERROR);
    grpc_init();
  });
}

void set_up(grpc::ServerBuilder& builder) {
  const auto set = [&](const char* name, int value) { builder.AddChannelArgument(name, value); };
  set_up_connection(set);
  set(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, in_ms(defaults::handshake_limit));
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, in_ms(defaults::ping_period_least));
  set(GRPC_ARG_MAX_CONCURRENT_STREAMS, 1);
  builder.SetResourceQuota(grpc::ResourceQuota{"link"}.Resize(defaults::quota_bytes));
}

std::shared_ptr<grpc::Channel> make_channel(const address& to, const credentials& with) {
  grpc::ChannelArguments arguments;
  set_up_connection([&](const char* name, int value) { arguments.SetInt(name, value); });
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, in_ms(defaults::attempt_limit));
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = with.authority;
  tls.pem_private_key = with.private_key;
  tls.pem_cert_chain = with.certificate;
  return grpc::CreateCustomChannel("dns:///" + host_and_port(to.host, to.port),
                                   grpc::SslCredentials(tls), arguments);
}

tl::expected<peer, std::string> peer_of(const grpc::AuthContext& verified, const std::string& uri) {
  const auto certificates = verified.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (!verified.IsPeerAuthenticated() || certificates.size() != 1)
    return tl::make_unexpected(std::string{"the peer presented no certificate"});
  auto read = read_peer({certificates.front().data(), certificates.front().size()});
  if (read) read->address = address_of(uri);
  return read;
}

}  // namespace troupe::runtime::link
