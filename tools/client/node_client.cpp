#include "tools/client/node_client.hpp"

#include <httplib.h>
#include <openssl/pem.h>
#include <sys/socket.h>

#include <atomic>

#include "config/units.hpp"
#include "server/connections/local_socket.hpp"
#include "server/credentials/openssl.hpp"
#include "tools/defaults.hpp"

namespace troupe::tools {

namespace {

using server::openssl::certificate_ptr;
using server::openssl::key_ptr;

key_ptr key_in(const std::string& pem) {
  const auto text = server::openssl::reader(pem);
  return key_ptr{::PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr)};
}

tl::expected<config::address, std::string> address_in(const std::string& url) {
  constexpr std::string_view scheme = "https://";
  auto text = url.starts_with(scheme) ? url.substr(scheme.size()) : std::string{};
  if (text.ends_with('/')) text.pop_back();
  auto found = config::parse_address(text);
  if (!found && !text.empty()) found = config::parse_address(text + ":443");
  if (!found || found->empty())
    return tl::make_unexpected("\"" + url + "\" is not an address: expected https://HOST:PORT");
  return *found;
}

// Connects to a Unix socket; the library can only connect by name and port.
class local_http final : public httplib::ClientImpl {
 public:
  local_http(std::filesystem::path file, std::atomic<int>& newest)
      : ClientImpl{"localhost"}, file_{std::move(file)}, newest_{newest} {}

  const std::string& problem() const noexcept { return problem_; }

 private:
  bool create_and_connect_socket(Socket& into, httplib::Error& error) override {
    const auto made = server::connect_to(file_);
    if (made) {
      newest_ = into.sock = *made;
      return true;
    }
    problem_ = made.error();
    error = httplib::Error::Connection;
    return false;
  }

  const std::filesystem::path file_;
  std::atomic<int>& newest_;
  std::string problem_;
};

}  // namespace

struct node_client::impl {
  impl(const config::address& address, certificate_ptr certificate, key_ptr key,
       const std::string& authority)
      : to{address.host + ":" + std::to_string(address.port)},
        certificate{std::move(certificate)},
        key{std::move(key)} {
    auto tls = std::make_unique<httplib::SSLClient>(address.host, address.port,
                                                    this->certificate.get(), this->key.get());
    if (const auto trusted = server::openssl::read_certificate(authority)) {
      auto* known = ::X509_STORE_new();
      ::X509_STORE_add_cert(known, trusted.get());
      tls->set_ca_cert_store(known);  // takes ownership
    }
    tls->enable_server_certificate_verification(true);
    http = std::move(tls);
  }
  explicit impl(const std::filesystem::path& socket)
      : to{socket.string()}, http{std::make_unique<local_http>(socket, newest_socket)} {}

  void set_limits() {
    http->set_keep_alive(true);
    http->set_tcp_nodelay(true);  // otherwise a body waits for the head's acknowledgement
    http->set_connection_timeout(defaults::connect_limit);
    http->set_read_timeout(defaults::answer_limit);
    http->set_socket_options([this](int made) { newest_socket = made; });
  }

  std::string problem(httplib::Error error) const {
    switch (error) {
      case httplib::Error::SSLServerVerification:
        return to +
               ": its certificate is not signed by a known authority; set --ca-file, or use its "
               "kubeconfig";
      case httplib::Error::Connection:
        if (const auto* local = dynamic_cast<const local_http*>(http.get()))
          return local->problem() + "; is the node running?";
        [[fallthrough]];
      case httplib::Error::ConnectionTimeout:
        return to + ": no answer; is the node running?";
      default:
        return to + ": the connection was lost (" + httplib::to_string(error) + ")";
    }
  }

  const std::string to;
  const certificate_ptr certificate;
  const key_ptr key;
  // Kept here because the library holds its lock while it connects.
  std::atomic<int> newest_socket{-1};
  std::unique_ptr<httplib::ClientImpl> http;
  httplib::Headers headers;
};

node_client::node_client(std::unique_ptr<impl> made) : impl_{std::move(made)} {}
node_client::~node_client() = default;

tl::expected<std::unique_ptr<node_client>, std::string> node_client::make(
    const server::cluster_access& access) {
  const auto at = address_in(access.server);
  if (!at) return tl::make_unexpected(at.error());
  auto certificate = server::openssl::read_certificate(access.certificate);
  auto key = key_in(access.private_key);
  const bool has_certificate = certificate && key;
  if (!has_certificate && access.token.empty())
    return tl::make_unexpected(
        "credentials are needed: a client certificate with its key, or a token");
  auto made = std::make_unique<impl>(*at, std::move(certificate), std::move(key), access.authority);
  made->set_limits();
  if (!access.token.empty()) made->headers.emplace("Authorization", "Bearer " + access.token);
  return std::unique_ptr<node_client>{new node_client{std::move(made)}};
}

std::unique_ptr<node_client> node_client::at(const std::filesystem::path& socket) {
  auto made = std::make_unique<impl>(socket);
  made->set_limits();
  return std::unique_ptr<node_client>{new node_client{std::move(made)}};
}

tl::expected<client_answer, std::string> node_client::call(const client_request& request) {
  httplib::Request http_request;
  http_request.method = request.method;
  http_request.path = request.path;
  http_request.headers = impl_->headers;
  for (const auto& [name, value] : request.headers)
    http_request.headers.emplace(name, value);
  if (!request.body.empty()) {
    http_request.headers.emplace("content-type", request.content_type);
    http_request.body = request.body;
  }
  const auto answer = impl_->http->send(http_request);
  if (!answer) return tl::make_unexpected(impl_->problem(answer.error()));
  return client_answer{answer->status, answer->body};
}

tl::expected<client_answer, std::string> node_client::follow(
    const std::string& path, const std::function<bool(std::string_view)>& take) {
  client_answer out;
  bool left = false;
  const auto answer = impl_->http->Get(
      path, impl_->headers,
      [&](const httplib::Response& head) {
        out.status = head.status;
        return true;
      },
      [&](const char* data, std::size_t size) {
        if (out.status != 200) {
          out.body.append(data, size);
          return true;
        }
        left = !take({data, size});
        return !left;
      });
  const bool ended = answer || left || (out.status != 0 && out.status != 200);
  if (!ended) return tl::make_unexpected(impl_->problem(answer.error()));
  return out;
}

void node_client::cancel() noexcept {
  ::shutdown(impl_->newest_socket, SHUT_RDWR);
}

}  // namespace troupe::tools
