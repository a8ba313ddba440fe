#include "tools/https_client.hpp"

#include <httplib.h>
#include <openssl/pem.h>

#include <regex>

#include "tools/defaults.hpp"

namespace troupe::tools {

namespace {

template <class T, void (*free)(T*)>
struct freed {
  void operator()(T* what) const { free(what); }
};
using certificate = std::unique_ptr<X509, freed<X509, X509_free>>;
using key = std::unique_ptr<EVP_PKEY, freed<EVP_PKEY, EVP_PKEY_free>>;

struct text_source {
  explicit text_source(const std::string& text)
      : bio{::BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))} {}
  ~text_source() { ::BIO_free(bio); }
  text_source(const text_source&) = delete;
  BIO* bio;
};

certificate certificate_in(const std::string& pem) {
  const text_source source{pem};
  return certificate{::PEM_read_bio_X509(source.bio, nullptr, nullptr, nullptr)};
}

key key_in(const std::string& pem) {
  const text_source source{pem};
  return key{::PEM_read_bio_PrivateKey(source.bio, nullptr, nullptr, nullptr)};
}

struct address {
  std::string host;
  int port;
};

tl::expected<address, std::string> address_in(const std::string& url) {
  static const std::regex form{R"(https://(\[([^\]]+)\]|([^:/\[\]]+))(:(\d{1,5}))?/?)"};
  std::smatch found;
  if (!std::regex_match(url, found, form))
    return tl::make_unexpected("\"" + url + "\" is no address: write https://HOST:PORT");
  const auto host = found[2].matched ? found[2].str() : found[3].str();
  return address{host, found[5].matched ? std::stoi(found[5].str()) : 443};
}

}  // namespace

struct https_client::impl {
  impl(const address& where, certificate mine, key secret)
      : to{where.host + ":" + std::to_string(where.port)},
        mine{std::move(mine)},
        secret{std::move(secret)},
        http{where.host, where.port, this->mine.get(), this->secret.get()} {}

  std::string problem(httplib::Error error) const {
    switch (error) {
      case httplib::Error::SSLServerVerification:
        return to +
               ": its certificate is not signed by the authority that is known here; name the "
               "right one by --ca-file, or use its kubeconfig";
      case httplib::Error::Connection:
      case httplib::Error::ConnectionTimeout:
        return to + ": nobody answers there; is the node running?";
      default:
        return to + ": the connection broke (" + httplib::to_string(error) + ")";
    }
  }

  const std::string to;
  const certificate mine;
  const key secret;
  httplib::SSLClient http;
  httplib::Headers headers;
};

https_client::https_client(std::unique_ptr<impl> made) : impl_{std::move(made)} {}
https_client::~https_client() = default;

tl::expected<std::unique_ptr<https_client>, std::string> https_client::make(
    const server::cluster_access& where) {
  const auto at = address_in(where.server);
  if (!at) return tl::make_unexpected(at.error());
  auto mine = certificate_in(where.certificate);
  auto secret = key_in(where.private_key);
  const bool has_certificate = mine && secret;
  if (!has_certificate && where.token.empty())
    return tl::make_unexpected(
        "credentials are needed: a client certificate with its key, or a token");
  auto made = std::make_unique<impl>(*at, std::move(mine), std::move(secret));
  auto& http = made->http;
  if (const auto authority = certificate_in(where.authority)) {
    auto* known = ::X509_STORE_new();
    ::X509_STORE_add_cert(known, authority.get());
    http.set_ca_cert_store(known);  // takes it over
  }
  http.enable_server_certificate_verification(true);
  http.set_keep_alive(true);
  http.set_connection_timeout(defaults::connect_limit);
  http.set_read_timeout(defaults::answer_limit);
  if (!where.token.empty()) made->headers.emplace("Authorization", "Bearer " + where.token);
  return std::unique_ptr<https_client>{new https_client{std::move(made)}};
}

tl::expected<client_answer, std::string> https_client::call(const client_request& what) {
  httplib::Request request;
  request.method = what.method;
  request.path = what.path;
  request.headers = impl_->headers;
  for (const auto& [name, value] : what.headers)
    request.headers.emplace(name, value);
  if (!what.body.empty()) {
    request.headers.emplace("content-type", what.content_type);
    request.body = what.body;
  }
  const auto answer = impl_->http.send(request);
  if (!answer) return tl::make_unexpected(impl_->problem(answer.error()));
  return client_answer{answer->status, answer->body};
}

tl::expected<client_answer, std::string> https_client::follow(
    const std::string& path, const std::function<bool(std::string_view)>& take) {
  client_answer out;
  bool left = false;
  const auto answer = impl_->http.Get(
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

}  // namespace troupe::tools
