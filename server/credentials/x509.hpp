// Makes and reads X.509 certificates with ECDSA P-256 keys, as PEM texts. Pure but for the random
// source of OpenSSL. Errors are one line saying what could not be done.
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
  // What a server is called: DNS names and literal addresses. A certificate with none is a
  // client's.
  std::vector<std::string> names;
  validity valid;
  // A server that shows the same certificate when it calls its like.
  bool calls_others = false;
};

// An authority that signs itself. With `private_key` an existing key gets a new certificate, so
// that what it signed stays good.
expected<identity> make_authority(const std::string& common_name, const validity& valid,
                                  const std::string& private_key = {});
expected<identity> issue(const identity& authority, const leaf& leaf);

// A new key, as PEM.
expected<std::string> make_key();
// PKCS#10, signed with the key; the authority decides what of it counts.
expected<std::string> make_request(const std::string& private_key, const std::string& common_name);

// A request whose signature shows that the sender holds its key. Nothing else of it is kept: name,
// groups and extensions are the authority's business.
struct request {
  std::string public_key;  // PEM
  std::string key_hash;
};
// EC keys of P-256 and P-384, Ed25519, RSA of 2048 to 4096 bits.
expected<request> read_request(const std::string& pem);
// As `issue`, for a key that is held elsewhere; a certificate of clients whatever `wanted.names`.
expected<std::string> certify(const identity& authority, const leaf& leaf,
                              const std::string& public_key);

// What of a request is taken over, beside its key, its subject and its alternative names.
struct requested {
  validity valid;  // shortened to that of the authority
  // In OpenSSL's words, with commas; empty: none.
  std::string key_usage, extended_key_usage;
};
// The certificate, PEM. Who calls has decided that the request may have it.
expected<std::string> certify_request(const identity& authority, const std::string& request,
                                      const requested& wanted);

// "sha256:" and the hash of the public key (SubjectPublicKeyInfo, DER) in hex, as kubeadm words it.
expected<std::string> key_hash(const std::string& certificate);

expected<validity> read_validity(const std::string& certificate);
// A client that calls the server by any of these names accepts the certificate.
bool covers(const std::string& certificate, const std::vector<std::string>& names);

// The certificate's key is this one, and the authority signed it.
bool belongs(const identity& identity, const std::string& authority_certificate);

}  // namespace troupe::server::x509
