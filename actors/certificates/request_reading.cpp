// Reads X.509 requests with OpenSSL.
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>

#include "actors/certificates/certificate_request.hpp"
#include "runtime/openssl.hpp"

namespace troupe::actors::certificates {
namespace {

namespace openssl = runtime::openssl;

using names_ptr = std::unique_ptr<GENERAL_NAMES, runtime::freed_by<GENERAL_NAMES_free>>;

// Returns false for names that the signers' rules do not check: a duplicate or invalid extension,
// or names of other types. They would get into the certificate unchecked.
bool read_names(X509_REQ& request, request_facts& into) {
  constexpr int absent = -1;
  const openssl::extensions_ptr extensions{X509_REQ_get_extensions(&request)};
  int state = absent;
  const names_ptr names{static_cast<GENERAL_NAMES*>(
      X509V3_get_d2i(extensions.get(), NID_subject_alt_name, &state, nullptr))};
  if (!names) return state == absent;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const int type = sk_GENERAL_NAME_value(names.get(), i)->type;
    if (type != GEN_DNS && type != GEN_IPADD && type != GEN_EMAIL && type != GEN_URI) return false;
    into.dns_names = into.dns_names || type == GEN_DNS;
    into.addresses = into.addresses || type == GEN_IPADD;
    into.emails = into.emails || type == GEN_EMAIL;
    into.uris = into.uris || type == GEN_URI;
  }
  return true;
}

}  // namespace

tl::expected<request_facts, std::string> read_request(const std::string& pem) {
  const auto input = openssl::reader(pem);
  const openssl::request_ptr parsed{PEM_read_bio_X509_REQ(input.get(), nullptr, nullptr, nullptr)};
  ERR_clear_error();
  if (!parsed) return tl::make_unexpected(std::string{"it is no PKCS#10 request in PEM form"});
  request_facts facts;
  const auto* subject = X509_REQ_get_subject_name(parsed.get());
  // The last of several applies, as in Go.
  if (auto names = openssl::entries(subject, NID_commonName); !names.empty())
    facts.common_name = std::move(names.back());
  facts.organizations = openssl::entries(subject, NID_organizationName);
  const bool names_read = read_names(*parsed, facts);
  ERR_clear_error();
  if (!names_read)
    return tl::make_unexpected(std::string{
        "its subjectAltNames must be one extension with names of DNS, IP, email or URI only"});
  return facts;
}

std::optional<std::int64_t> end_of(const std::string& certificate) {
  if (certificate.empty()) return std::nullopt;
  const auto parsed = openssl::read_certificate(certificate);
  std::tm parts{};
  if (!parsed || ASN1_TIME_to_tm(X509_get0_notAfter(parsed.get()), &parts) != 1)
    return std::nullopt;
  return std::int64_t{::timegm(&parts)};
}

}  // namespace troupe::actors::certificates
