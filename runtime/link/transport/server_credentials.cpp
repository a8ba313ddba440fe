#include <grpc/grpc_security.h>

#include <mutex>

#include "runtime/link/transport/certificate.hpp"
#include "runtime/link/transport/library.hpp"
#include "runtime/link/transport/log.hpp"

namespace troupe::runtime::link {
namespace {

// gRPC's C++ server credentials are fixed at construction; those of its C interface are read at
// each handshake.
class fetching_credentials final : public grpc::ServerCredentials {
 public:
  explicit fetching_credentials(const credentials_source& source) : source_{source} {
    held_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY, fetch, this));
  }
  ~fetching_credentials() override { grpc_server_credentials_release(held_); }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), held_);
  }

  static grpc_ssl_certificate_config_reload_status fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<fetching_credentials*>(self)->renew(*config);
  }

  grpc_ssl_certificate_config_reload_status renew(grpc_ssl_server_certificate_config*& config) {
    auto now = source_();
    std::lock_guard lock{mutex_};
    if (now.certificate == last_.certificate && now.private_key == last_.private_key &&
        now.authority == last_.authority)
      return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    if (const auto usable = check(now); !usable) {
      log().warn("the link keeps its certificate: of the new one, {}", usable.error());
      return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    }
    const grpc_ssl_pem_key_cert_pair pair{now.private_key.c_str(), now.certificate.c_str()};
    config = grpc_ssl_server_certificate_config_create(now.authority.c_str(), &pair, 1);
    last_ = std::move(now);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const credentials_source& source_;
  grpc_server_credentials* held_;
  std::mutex mutex_;
  credentials last_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> make_server_credentials(const credentials_source& source) {
  return std::make_shared<fetching_credentials>(source);
}

}  // namespace troupe::runtime::link
