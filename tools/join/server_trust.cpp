#include "tools/join/server_trust.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "server/credentials/openssl.hpp"
#include "server/credentials/x509.hpp"

namespace troupe::tools {

namespace {

using server::openssl::freed_by;
using server::openssl::read_certificate;

bool is_for(X509& server, const std::string& host) {
  return ::X509_check_ip_asc(&server, host.c_str(), 0) == 1 ||
         ::X509_check_host(&server, host.data(), host.size(), 0, nullptr) == 1;
}

// The authority itself has signed the server's certificate, which may be used by a server.
bool signed_by(X509& server, X509& authority) {
  const std::unique_ptr<X509_STORE, freed_by<X509_STORE_free>> known{::X509_STORE_new()};
  const std::unique_ptr<X509_STORE_CTX, freed_by<X509_STORE_CTX_free>> check{
      ::X509_STORE_CTX_new()};
  ::X509_STORE_add_cert(known.get(), &authority);
  ::X509_STORE_set_flags(known.get(), X509_V_FLAG_NO_CHECK_TIME);
  ::X509_STORE_CTX_init(check.get(), known.get(), &server, nullptr);
  ::X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_SERVER);
  const bool valid = ::X509_verify_cert(check.get()) == 1;
  ::ERR_clear_error();
  return valid;
}

std::string text_of(const GENERAL_NAME& name) {
  int kind = 0;
  const auto* value = static_cast<const ASN1_STRING*>(::GENERAL_NAME_get0_value(&name, &kind));
  if (kind != GEN_DNS && kind != GEN_IPADD) return {};
  const auto* data = ::ASN1_STRING_get0_data(value);
  const auto size = static_cast<std::size_t>(::ASN1_STRING_length(value));
  if (kind == GEN_DNS) return {reinterpret_cast<const char*>(data), size};
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(size == 4 ? AF_INET : AF_INET6, data, text.data(), text.size());
  return text.data();
}

}  // namespace

tl::expected<host_and_port, std::string> parse_host_and_port(const std::string& text) {
  const auto colon = text.rfind(':');
  host_and_port found;
  const auto wrong = [&] {
    return tl::make_unexpected("\"" + text + "\" is not an address: expected HOST:PORT");
  };
  if (colon == text.npos) return wrong();
  found.host = text.substr(0, colon);
  if (found.host.starts_with('[') && found.host.ends_with(']'))
    found.host = found.host.substr(1, found.host.size() - 2);
  else if (found.host.find(':') != text.npos)
    return wrong();
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, found.port);
  if (found.host.empty() || read.ec != std::errc{} || read.ptr != end || found.port < 1 ||
      found.port > 65'535)
    return wrong();
  return found;
}

tl::expected<trusted_server, trust_error> check_server(const std::vector<std::string>& chain,
                                                       const std::string& authority_hash,
                                                       const std::string& host) {
  const auto server = chain.empty() ? nullptr : read_certificate(chain.front());
  if (!server) return tl::make_unexpected(trust_error::no_certificate);
  const auto shown = std::find_if(chain.begin() + 1, chain.end(), [&](const std::string& each) {
    return server::x509::key_hash(each) == authority_hash;
  });
  if (shown == chain.end()) return tl::make_unexpected(trust_error::other_authority);
  const auto authority = read_certificate(*shown);
  if (!signed_by(*server, *authority)) return tl::make_unexpected(trust_error::not_signed);
  if (!is_for(*server, host)) return tl::make_unexpected(trust_error::other_name);
  return trusted_server{*shown};
}

std::string names_in(const std::string& pem) {
  const auto parsed = read_certificate(pem);
  const std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>> names{
      parsed ? static_cast<GENERAL_NAMES*>(
                   ::X509_get_ext_d2i(parsed.get(), NID_subject_alt_name, nullptr, nullptr))
             : nullptr};
  std::string text;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const auto name = text_of(*sk_GENERAL_NAME_value(names.get(), i));
    if (!name.empty()) text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace troupe::tools
