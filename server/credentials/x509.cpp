#include "server/credentials/x509.hpp"

#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "server/credentials/openssl.hpp"

namespace troupe::server::x509 {
namespace {

using openssl::certificate_ptr;
using openssl::key_ptr;

constexpr int serial_bits = 127;  // RFC 5280 4.1.2.2: positive, at most 20 octets

tl::unexpected<std::string> failed(const char* problem) {
  return tl::make_unexpected(std::string(problem) + ": " + openssl::take_error());
}

openssl::bio_ptr memory() {
  return openssl::bio_ptr{BIO_new(BIO_s_mem())};
}

key_ptr parse_key(const std::string& pem) {
  const auto input = openssl::reader(pem);
  key_ptr found{PEM_read_bio_PrivateKey(input.get(), nullptr, nullptr, nullptr)};
  ERR_clear_error();
  return found;
}

identity print(X509& certificate, EVP_PKEY& key) {
  identity made;
  auto out = memory();
  PEM_write_bio_X509(out.get(), &certificate);
  made.certificate = openssl::text_of(*out);
  out = memory();
  PEM_write_bio_PrivateKey(out.get(), &key, nullptr, nullptr, 0, nullptr, nullptr);
  made.private_key = openssl::text_of(*out);
  return made;
}

bool set_time(ASN1_TIME* to, time_point when) {
  return ASN1_TIME_set(to, std::chrono::system_clock::to_time_t(when)) != nullptr;
}

bool set_serial(X509& certificate) {
  const std::unique_ptr<BIGNUM, openssl::freed_by<BN_free>> number{BN_new()};
  return number && BN_rand(number.get(), serial_bits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr;
}

// With an explicit type: otherwise OpenSSL enforces X.520's limit of 64 characters, and node names
// may be longer.
bool add_entry(X509_NAME* name, const char* field, const std::string& value) {
  return X509_NAME_add_entry_by_txt(name, field, V_ASN1_UTF8STRING,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

bool extend(X509& certificate, X509& issuer, int extension_nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, extension_nid, value.c_str());
  const bool good = extension != nullptr && X509_add_ext(&certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return good;
}

// The fields common to all certificates: version, serial number, times, subject and key.
certificate_ptr prepare(const std::string& common_name,
                        const std::vector<std::string>& organizations, const validity& valid,
                        EVP_PKEY& key) {
  certificate_ptr made{X509_new()};
  if (!made) return nullptr;
  X509_NAME* subject = X509_get_subject_name(made.get());
  bool good = X509_set_version(made.get(), X509_VERSION_3) == 1 && set_serial(*made) &&
              set_time(X509_getm_notBefore(made.get()), valid.from) &&
              set_time(X509_getm_notAfter(made.get()), valid.until) &&
              X509_set_pubkey(made.get(), &key) == 1;
  for (const auto& organization : organizations)
    good = good && add_entry(subject, "O", organization);
  good = good && (common_name.empty() || add_entry(subject, "CN", common_name));
  return good ? std::move(made) : nullptr;
}

bool is_address(const std::string& name) {
  const std::unique_ptr<ASN1_OCTET_STRING, openssl::freed_by<ASN1_OCTET_STRING_free>> parsed{
      a2i_IPADDRESS(name.c_str())};
  ERR_clear_error();
  return parsed != nullptr;
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) {
    if (!text.empty()) text += ',';
    text += (is_address(name) ? "IP:" : "DNS:") + name;
  }
  return text;
}

expected<certificate_ptr> sign(certificate_ptr made, const X509_NAME* issuer, EVP_PKEY& key) {
  if (X509_set_issuer_name(made.get(), issuer) != 1 ||
      X509_sign(made.get(), &key, EVP_sha256()) == 0)
    return failed("the certificate cannot be signed");
  return made;
}

// Other keys are refused before the signature is verified: a large key costs time.
bool is_usual(const EVP_PKEY& key) {
  const int bits = EVP_PKEY_get_bits(&key);
  switch (EVP_PKEY_get_base_id(&key)) {
    case EVP_PKEY_EC:
      return bits == 256 || bits == 384;
    case EVP_PKEY_ED25519:
      return true;
    case EVP_PKEY_RSA:
      return bits >= 2048 && bits <= 4096;
    default:
      return false;
  }
}

time_point to_time(const ASN1_TIME* when) {
  return std::chrono::system_clock::from_time_t(openssl::seconds_of(when));
}

}  // namespace

expected<identity> make_authority(const std::string& common_name, const validity& valid,
                                  const std::string& private_key) {
  const key_ptr key = private_key.empty() ? key_ptr{EVP_EC_gen("P-256")} : parse_key(private_key);
  if (!key) return failed("no key for the authority");
  auto made = prepare(common_name, {}, valid, *key);
  if (!made || !extend(*made, *made, NID_basic_constraints, "critical,CA:TRUE") ||
      !extend(*made, *made, NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign") ||
      !extend(*made, *made, NID_subject_key_identifier, "hash"))
    return failed("the authority's certificate cannot be made");
  const X509_NAME* self = X509_get_subject_name(made.get());
  auto certificate = sign(std::move(made), self, *key);
  if (!certificate) return tl::make_unexpected(certificate.error());
  return print(**certificate, *key);
}

namespace {

expected<certificate_ptr> issue_for(EVP_PKEY& key, const identity& authority, const leaf& leaf) {
  const auto issuer = openssl::read_certificate(authority.certificate);
  const auto issuer_key = parse_key(authority.private_key);
  if (!issuer || !issuer_key) return failed("the authority is not usable");
  auto made = prepare(leaf.common_name, leaf.organizations, leaf.valid, key);
  const bool server = !leaf.names.empty();
  const char* const use = !server             ? "clientAuth"
                          : leaf.calls_others ? "serverAuth,clientAuth"
                                              : "serverAuth";
  if (!made || !extend(*made, *issuer, NID_basic_constraints, "critical,CA:FALSE") ||
      !extend(*made, *issuer, NID_key_usage, "critical,digitalSignature") ||
      !extend(*made, *issuer, NID_ext_key_usage, use) ||
      !extend(*made, *issuer, NID_authority_key_identifier, "keyid") ||
      (server && !extend(*made, *issuer, NID_subject_alt_name, alternative_names(leaf.names))))
    return failed("the certificate cannot be made");
  return sign(std::move(made), X509_get_subject_name(issuer.get()), *issuer_key);
}

}  // namespace

expected<identity> issue(const identity& authority, const leaf& leaf) {
  const key_ptr key{EVP_EC_gen("P-256")};
  if (!key) return failed("no key for the certificate");
  auto certificate = issue_for(*key, authority, leaf);
  if (!certificate) return tl::make_unexpected(certificate.error());
  return print(**certificate, *key);
}

expected<std::string> make_key() {
  const key_ptr key{EVP_EC_gen("P-256")};
  if (!key) return failed("no key");
  const auto out = memory();
  PEM_write_bio_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return openssl::text_of(*out);
}

expected<std::string> make_request(const std::string& private_key, const std::string& common_name) {
  const auto key = parse_key(private_key);
  const openssl::request_ptr made{X509_REQ_new()};
  if (!key || !made || X509_REQ_set_version(made.get(), X509_REQ_VERSION_1) != 1 ||
      !add_entry(X509_REQ_get_subject_name(made.get()), "CN", common_name) ||
      X509_REQ_set_pubkey(made.get(), key.get()) != 1 ||
      X509_REQ_sign(made.get(), key.get(), EVP_sha256()) == 0)
    return failed("the request for a certificate cannot be made");
  const auto out = memory();
  PEM_write_bio_X509_REQ(out.get(), made.get());
  return openssl::text_of(*out);
}

namespace {

// Checks that the request is signed with its own key.
expected<openssl::request_ptr> parse_request(const std::string& pem) {
  const auto input = openssl::reader(pem);
  openssl::request_ptr parsed{PEM_read_bio_X509_REQ(input.get(), nullptr, nullptr, nullptr)};
  if (!parsed) return failed("not a PKCS#10 request in PEM form");
  EVP_PKEY* key = X509_REQ_get0_pubkey(parsed.get());
  if (key == nullptr) return failed("its key cannot be read");
  if (!is_usual(*key))
    return tl::make_unexpected(std::string(
        "its key has an unsupported type; supported are EC (P-256, P-384), Ed25519, or RSA "
        "of 2048 to 4096 bits"));
  if (X509_REQ_verify(parsed.get(), key) != 1) return failed("its signature is not by its key");
  return parsed;
}

// Copies only the alternative names: the authority sets the rest.
bool copy_names(const X509_REQ& from, X509& to) {
  const openssl::extensions_ptr all{X509_REQ_get_extensions(const_cast<X509_REQ*>(&from))};
  const int at = X509v3_get_ext_by_NID(all.get(), NID_subject_alt_name, -1);
  return at < 0 || X509_add_ext(&to, X509v3_get_ext(all.get(), at), -1) == 1;
}

}  // namespace

expected<request> read_request(const std::string& pem) {
  const auto parsed = parse_request(pem);
  if (!parsed) return tl::make_unexpected(parsed.error());
  const auto out = memory();
  PEM_write_bio_PUBKEY(out.get(), X509_REQ_get0_pubkey(parsed->get()));
  return request{openssl::text_of(*out),
                 openssl::key_hash(X509_REQ_get_X509_PUBKEY(parsed->get()))};
}

expected<std::string> certify_request(const identity& authority, const std::string& request,
                                      const requested& wanted) {
  const auto issuer = openssl::read_certificate(authority.certificate);
  const auto issuer_key = parse_key(authority.private_key);
  if (!issuer || !issuer_key) return failed("the authority is not usable");
  const auto parsed = parse_request(request);
  if (!parsed) return tl::make_unexpected(parsed.error());
  auto valid = wanted.valid;
  valid.until = std::min(valid.until, to_time(X509_get0_notAfter(issuer.get())));
  auto made = prepare({}, {}, valid, *X509_REQ_get0_pubkey(parsed->get()));
  const auto add = [&](int nid, const std::string& text) {
    return text.empty() || extend(*made, *issuer, nid, text);
  };
  if (!made || X509_set_subject_name(made.get(), X509_REQ_get_subject_name(parsed->get())) != 1 ||
      !add(NID_basic_constraints, "critical,CA:FALSE") ||
      !add(NID_key_usage, wanted.key_usage.empty() ? "" : "critical," + wanted.key_usage) ||
      !add(NID_ext_key_usage, wanted.extended_key_usage) ||
      !add(NID_authority_key_identifier, "keyid") || !copy_names(**parsed, *made))
    return failed("the certificate cannot be made");
  const auto certificate = sign(std::move(made), X509_get_subject_name(issuer.get()), *issuer_key);
  if (!certificate) return tl::make_unexpected(certificate.error());
  const auto out = memory();
  PEM_write_bio_X509(out.get(), certificate->get());
  return openssl::text_of(*out);
}

expected<std::string> certify(const identity& authority, const leaf& leaf,
                              const std::string& public_key) {
  const auto input = openssl::reader(public_key);
  const key_ptr key{PEM_read_bio_PUBKEY(input.get(), nullptr, nullptr, nullptr)};
  if (!key) return failed("the public key cannot be read");
  auto client = leaf;
  client.names.clear();
  const auto certificate = issue_for(*key, authority, client);
  if (!certificate) return tl::make_unexpected(certificate.error());
  const auto out = memory();
  PEM_write_bio_X509(out.get(), certificate->get());
  return openssl::text_of(*out);
}

expected<std::string> key_hash(const std::string& certificate) {
  const auto parsed = openssl::read_certificate(certificate);
  if (!parsed) return tl::make_unexpected(std::string("not a certificate in PEM form"));
  return openssl::key_hash(X509_get_X509_PUBKEY(parsed.get()));
}

expected<validity> read_validity(const std::string& certificate) {
  const auto parsed = openssl::read_certificate(certificate);
  if (!parsed) return tl::make_unexpected(std::string("not a certificate in PEM form"));
  return validity{to_time(X509_get0_notBefore(parsed.get())),
                  to_time(X509_get0_notAfter(parsed.get()))};
}

bool covers(const std::string& certificate, const std::vector<std::string>& names) {
  const auto parsed = openssl::read_certificate(certificate);
  return parsed && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
           return is_address(name)
                      ? X509_check_ip_asc(parsed.get(), name.c_str(), 0) == 1
                      : X509_check_host(parsed.get(), name.c_str(), name.size(), 0, nullptr) == 1;
         });
}

bool belongs(const identity& identity, const std::string& authority_certificate) {
  const auto certificate = openssl::read_certificate(identity.certificate);
  const auto key = parse_key(identity.private_key);
  const auto authority = openssl::read_certificate(authority_certificate);
  const bool good = certificate && key && authority &&
                    X509_check_private_key(certificate.get(), key.get()) == 1 &&
                    X509_verify(certificate.get(), X509_get0_pubkey(authority.get())) == 1;
  ERR_clear_error();
  return good;
}

}  // namespace troupe::server::x509
