#include "actors/access/certificate_request.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

namespace troupe::actors {
namespace {

template <auto Free>
struct deleter {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

// The last common name applies (Go: crypto/x509/pkix, Name.FillFromRDNSequence).
std::string last_common_name(const X509_NAME* subject) {
  int last = -1;
  for (int at = -1; (at = ::X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;)
    last = at;
  if (last < 0) return {};
  unsigned char* text = nullptr;
  const auto* entry = ::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(subject, last));
  const int size = ::ASN1_STRING_to_UTF8(&text, entry);
  if (size < 0) return {};
  std::string name{reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)};
  OPENSSL_free(text);
  return name;
}

}  // namespace

std::optional<std::string> common_name_of_request(const std::string& pem) {
  const std::unique_ptr<BIO, deleter<BIO_free_all>> text{
      ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  const std::unique_ptr<X509_REQ, deleter<X509_REQ_free>> request{
      ::PEM_read_bio_X509_REQ(text.get(), nullptr, nullptr, nullptr)};
  ::ERR_clear_error();
  if (!request) return std::nullopt;
  auto name = last_common_name(::X509_REQ_get_subject_name(request.get()));
  ::ERR_clear_error();
  return name;
}

}  // namespace troupe::actors
