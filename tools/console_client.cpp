#include "tools/console_client.hpp"

#include <httplib.h>
#include <openssl/pem.h>

#include <regex>

#include "server/query.hpp"
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

// The message of a Status document, else the text as it is.
std::string message_in(const std::string& body) {
  static const std::regex form{R"re("message":"((?:[^"\\]|\\.)*)")re"};
  std::smatch found;
  if (!std::regex_search(body, found, form)) return body;
  return std::regex_replace(found[1].str(), std::regex{R"(\\(["\\/]))"}, "$1");
}

std::string path_of(const console_request& what) {
  std::string path = "/console/api/" + what.path;
  char separator = '?';
  for (const auto& [name, value] : what.query) {
    path += separator + name + "=" + server::percent_encode(value);
    separator = '&';
  }
  return path;
}

}  // namespace

struct console_client::impl {
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

console_client::console_client(std::unique_ptr<impl> made) : impl_{std::move(made)} {}
console_client::~console_client() = default;

tl::expected<std::unique_ptr<console_client>, std::string> console_client::make(
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
  http.set_connection_timeout(defaults::console_connect_limit);
  http.set_read_timeout(defaults::console_answer_limit);
  if (!where.token.empty()) made->headers.emplace("Authorization", "Bearer " + where.token);
  return std::unique_ptr<console_client>{new console_client{std::move(made)}};
}

tl::expected<std::string, std::string> console_client::ask(const console_request& what) {
  auto headers = impl_->headers;
  if (what.changes) headers.emplace("x-troupe-control", "allow");
  const auto path = path_of(what);
  const auto answer = what.changes ? impl_->http.Post(path, headers, "", "application/json")
                                   : impl_->http.Get(path, headers);
  if (!answer) return tl::make_unexpected(impl_->problem(answer.error()));
  if (answer->status != 200) return tl::make_unexpected(message_in(answer->body));
  return answer->body;
}

tl::expected<void, std::string> console_client::follow(
    const console_request& what, const std::function<bool(std::string_view)>& take) {
  int status = 0;
  std::string refusal;
  bool left = false;
  const auto answer = impl_->http.Get(
      path_of(what), impl_->headers,
      [&](const httplib::Response& head) {
        status = head.status;
        return true;
      },
      [&](const char* data, std::size_t size) {
        if (status != 200) {
          refusal.append(data, size);
          return true;
        }
        left = !take({data, size});
        return !left;
      });
  if (status != 0 && status != 200) return tl::make_unexpected(message_in(refusal));
  if (!answer && !left) return tl::make_unexpected(impl_->problem(answer.error()));
  return {};
}

}  // namespace troupe::tools
