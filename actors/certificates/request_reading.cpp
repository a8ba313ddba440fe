// Reads X.509 requests with OpenSSL.
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>

#include "actors/certificates/certificate_request.hpp"
#include "runtime/freed_by.hpp"

namespace troupe::actors::certificates {
namespace {

using runtime::freed_by;

void free_extensions(STACK_OF(X509_EXTENSION) * all) {
  sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
}

using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free_all>>;
using request_ptr = std::unique_ptr<X509_REQ, freed_by<X509_REQ_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using names_ptr = std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>>;
using extensions_ptr = std::unique_ptr<STACK_OF(X509_EXTENSION), freed_by<free_extensions>>;

bio_ptr reader(const std::string& text) {
  return bio_ptr{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

std::vector<std::string> entries(const X509_NAME* name, int nid) {
  std::vector<std::string> found;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(name, nid, at)) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size >= 0) found.emplace_back(reinterpret_cast<const char*>(text), size);
    OPENSSL_free(text);
  }
  return found;
}

// Returns false for names that the signers' rules do not check: a duplicate or invalid extension,
// or names of other types. They would get into the certificate unchecked.
bool read_names(X509_REQ& request, request_facts& into) {
  constexpr int absent = -1;
  const extensions_ptr extensions{X509_REQ_get_extensions(&request)};
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
  const auto input = reader(pem);
  const request_ptr parsed{PEM_read_bio_X509_REQ(input.get(), nullptr, nullptr, nullptr)};
  ERR_clear_error();
  if (!parsed) return tl::make_unexpected(std::string{"it is no PKCS#10 request in PEM form"});
  request_facts facts;
  const auto* subject = X509_REQ_get_subject_name(parsed.get());
  // The last of several applies, as in Go.
  if (auto names = entries(subject, NID_commonName); !names.empty())
    facts.common_name = std::move(names.back());
  facts.organizations = entries(subject, NID_organizationName);
  const bool names_read = read_names(*parsed, facts);
  ERR_clear_error();
  if (!names_read)
    return tl::make_unexpected(std::string{
        "its subjectAltNames must be one extension with names of DNS, IP, email or URI only"});
  return facts;
}

std::optional<std::int64_t> end_of(const std::string& certificate) {
  if (certificate.empty()) return std::nullopt;
  const auto input = reader(certificate);
  const certificate_ptr parsed{PEM_read_bio_X509(input.get(), nullptr, nullptr, nullptr)};
  ERR_clear_error();
  std::tm parts{};
  if (!parsed || ASN1_TIME_to_tm(X509_get0_notAfter(parsed.get()), &parts) != 1)
    return std::nullopt;
  return std::int64_t{::timegm(&parts)};
}

}  // namespace troupe::actors::certificates
