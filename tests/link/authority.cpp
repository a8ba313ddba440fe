#include "link/authority.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <atomic>

namespace troupe::test {
namespace {

using key_ptr = std::shared_ptr<EVP_PKEY>;
using certificate_ptr = std::shared_ptr<X509>;

key_ptr make_key() {
  return {EVP_EC_gen("P-256"), EVP_PKEY_free};
}

template <class Write>
std::string pem(Write write) {
  BIO* memory = BIO_new(BIO_s_mem());
  write(memory);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory, &text);
  std::string copy(text, static_cast<std::size_t>(size));
  BIO_free(memory);
  return copy;
}

void add_name(X509* to, const char* field, const std::string& text) {
  X509_NAME_add_entry_by_txt(X509_get_subject_name(to), field, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(text.data()),
                             static_cast<int>(text.size()), -1, 0);
}

void add_extension(X509* to, X509* issuer, int extension, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, &context, extension, value.c_str());
  X509_add_ext(to, made, -1);
  X509_EXTENSION_free(made);
}

certificate_ptr begin(EVP_PKEY* key, std::chrono::seconds lifetime) {
  static std::atomic<long> serial{1};
  certificate_ptr made{X509_new(), X509_free};
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -7'200);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), static_cast<long>(lifetime.count()));
  X509_set_pubkey(made.get(), key);
  return made;
}

}  // namespace

struct authority::impl {
  key_ptr key = make_key();
  certificate_ptr certificate;
  std::string text;
};

authority::authority(const std::string& name) : impl_{std::make_unique<impl>()} {
  auto made = begin(impl_->key.get(), std::chrono::hours{24});
  add_name(made.get(), "CN", name);
  X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
  add_extension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign");
  X509_sign(made.get(), impl_->key.get(), EVP_sha256());
  impl_->text = pem([&](BIO* to) { PEM_write_bio_X509(to, made.get()); });
  impl_->certificate = made;
}

authority::~authority() = default;

runtime::link::credentials authority::issue(const leaf& leaf) const {
  const auto key = make_key();
  const auto made = begin(key.get(), leaf.lifetime);
  for (const auto& group : leaf.groups)
    add_name(made.get(), "O", group);
  add_name(made.get(), "CN", leaf.name);
  X509_set_issuer_name(made.get(), X509_get_subject_name(impl_->certificate.get()));
  std::string called;
  for (const auto& name : leaf.called)
    called += (called.empty() ? "" : ",") + name;
  if (!called.empty())
    add_extension(made.get(), impl_->certificate.get(), NID_subject_alt_name, called);
  X509_sign(made.get(), impl_->key.get(), EVP_sha256());
  return {pem([&](BIO* to) { PEM_write_bio_X509(to, made.get()); }), pem([&](BIO* to) {
            PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          }),
          impl_->text};
}

const std::string& authority::certificate() const {
  return impl_->text;
}

}  // namespace troupe::test
