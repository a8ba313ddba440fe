#include "persistence/etcd/client/credentials.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

namespace troupe::persistence::etcd {

namespace {

constexpr std::size_t file_limit_bytes = 1u << 20;
constexpr double warned_part = 0.2;  // of a certificate's life

struct freed {
  void operator()(BIO* each) const { BIO_free(each); }
  void operator()(X509* each) const { X509_free(each); }
  void operator()(EVP_PKEY* each) const { EVP_PKEY_free(each); }
};
template <class T>
using owned = std::unique_ptr<T, freed>;

// As gRPC reads them: without it, OpenSSL asks the terminal for the passphrase of a key.
char no_passphrase[] = "";

owned<BIO> reader(const std::string& text) {
  return owned<BIO>{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

owned<X509> first_certificate(const std::string& pem) {
  return owned<X509>{PEM_read_bio_X509_AUX(reader(pem).get(), nullptr, nullptr, no_passphrase)};
}

owned<EVP_PKEY> key_of(const std::string& pem) {
  return owned<EVP_PKEY>{
      PEM_read_bio_PrivateKey(reader(pem).get(), nullptr, nullptr, no_passphrase)};
}

// Files of an administrator, read again and again: a pipe would block, and a device has no end.
expected<std::string> read_file(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::exists(path, failed) && !std::filesystem::is_regular_file(path, failed))
    return fail(errc::io, fmt::format("{} is no regular file", path));
  std::ifstream in{path, std::ios::binary};
  std::string text(file_limit_bytes + 1, '\0');
  if (!in) return fail(errc::io, fmt::format("{} cannot be read", path));
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.eof())
    return fail(errc::io, fmt::format("{} has more than {} bytes", path, file_limit_bytes));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::optional<std::chrono::system_clock::time_point> time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

std::string find_fault(const credentials& shown, const etcd_options& files) {
  if (!files.ca_file.empty() && !first_certificate(shown.authorities))
    return fmt::format("{} has no certificate in PEM form", files.ca_file);
  if (files.certificate_file.empty() || files.key_file.empty()) return {};
  const auto certificate = first_certificate(shown.certificate);
  if (!certificate) return fmt::format("{} has no certificate in PEM form", files.certificate_file);
  const auto key = key_of(shown.key);
  if (!key)
    return fmt::format("{} has no private key in PEM form, without a passphrase", files.key_file);
  if (X509_check_private_key(certificate.get(), key.get()) != 1)
    return fmt::format("the key in {} does not belong to the certificate in {}", files.key_file,
                       files.certificate_file);
  return {};
}

}  // namespace

expected<credentials> read_files(const etcd_options& options) {
  credentials made;
  for (const auto& [path, text] : {std::pair{&options.ca_file, &made.authorities},
                                   {&options.certificate_file, &made.certificate},
                                   {&options.key_file, &made.key}}) {
    if (path->empty()) continue;
    auto read = read_file(*path);
    if (!read) return fail(std::move(read.error()));
    *text = std::move(*read);
  }
  return made;
}

expected<void> check(const credentials& shown, const etcd_options& files) {
  auto fault = find_fault(shown, files);
  ERR_clear_error();  // gRPC would take errors in this thread's queue for its own
  if (!fault.empty()) return fail(errc::invalid, std::move(fault));
  return {};
}

expected<credentials> read_credentials(const etcd_options& options) {
  auto found = read_files(options);
  if (!found) return found;
  if (auto good = check(*found, options); !good) return fail(std::move(good.error()));
  return found;
}

std::string warning_of_end(const std::string& certificate, const std::string& file,
                           std::chrono::system_clock::time_point now) {
  const auto read = first_certificate(certificate);
  ERR_clear_error();
  if (!read) return {};
  const auto from = time_of(X509_get0_notBefore(read.get()));
  const auto until = time_of(X509_get0_notAfter(read.get()));
  if (!from || !until) return {};
  const std::chrono::duration<double> life = *until - *from, left = *until - now;
  if (left > life * warned_part) return {};
  return fmt::format(
      "the certificate for etcd in {} is valid until {:%Y-%m-%dT%H:%M:%SZ}: replace it and its "
      "key, "
      "this control plane then uses them",
      file, fmt::gmtime(std::chrono::system_clock::to_time_t(*until)));
}

}  // namespace troupe::persistence::etcd
