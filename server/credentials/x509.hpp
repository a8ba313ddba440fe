// Creates and reads X.509 certificates with ECDSA P-256 keys, as PEM texts. Pure except for
// OpenSSL's random source. Errors are one line.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::server::x509 {

using time_point = std::chrono::system_clock::time_point;
template <class T>
using expected = tl::expected<T, std::string>;

struct identity {
  std::string certificate;
  std::string private_key;
};

struct validity {
  time_point from;
  time_point until;
};

struct leaf {
  std::string common_name;
  std::vector<std::string> organizations;
  // Names of a server: DNS names and literal addresses. A certificate without names is a
  // client's.
  std::vector<std::string> names;
  validity valid;
  // The server also uses this certificate as a client of other servers.
  bool calls_others = false;
};

// A self-signed authority. With `private_key` an existing key gets a new certificate, so that
// certificates signed with it stay valid.
expected<identity> make_authority(const std::string& common_name, const validity& valid,
                                  const std::string& private_key = {});
expected<identity> issue(const identity& authority, const leaf& leaf);

// A new key, as PEM.
expected<std::string> make_key();
// PKCS#10, signed with the key; the authority decides which parts it uses.
expected<std::string> make_request(const std::string& private_key, const std::string& common_name);

// A certificate request whose signature proves that the sender has its key. Name, groups and
// extensions are ignored: the authority sets them.
struct request {
  std::string public_key;  // PEM
  std::string key_hash;
};
// EC keys of P-256 and P-384, Ed25519, RSA of 2048 to 4096 bits.
expected<request> read_request(const std::string& pem);
// As `issue`, for a key held elsewhere; always a client certificate, whatever `leaf.names`.
expected<std::string> certify(const identity& authority, const leaf& leaf,
                              const std::string& public_key);

// The parts of a certificate set by the caller, besides key, subject and alternative names.
struct requested {
  validity valid;  // shortened to that of the authority
  // In OpenSSL's notation, comma-separated; empty: none.
  std::string key_usage, extended_key_usage;
};
// The certificate, PEM. The caller has approved the request.
expected<std::string> certify_request(const identity& authority, const std::string& request,
                                      const requested& wanted);

// "sha256:" and the hex hash of the public key (SubjectPublicKeyInfo, DER), in kubeadm's format.
expected<std::string> key_hash(const std::string& certificate);

expected<validity> read_validity(const std::string& certificate);
// Whether the certificate is valid for all of these names.
bool covers(const std::string& certificate, const std::vector<std::string>& names);

// Whether the key matches the certificate, and the authority signed it.
bool belongs(const identity& identity, const std::string& authority_certificate);

}  // namespace troupe::server::x509
