#include "server/kubeconfig.hpp"

#include <openssl/evp.h>

namespace troupe::server {
namespace {

endpoint callable(endpoint where) {
  if (where.host == "0.0.0.0") where.host = "127.0.0.1";
  if (where.host == "::") where.host = "::1";
  return where;
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string kubeconfig(const endpoint& server, std::string_view authority,
                       const x509::identity& client) {
  std::string text = "apiVersion: v1\nkind: Config\n";
  text += "clusters:\n- name: troupe\n  cluster:\n";
  text += "    server: https://" + to_string(callable(server)) + "\n";
  text += "    certificate-authority-data: " + base64(authority) + "\n";
  text += "users:\n- name: admin\n  user:\n";
  text += "    client-certificate-data: " + base64(client.certificate) + "\n";
  text += "    client-key-data: " + base64(client.private_key) + "\n";
  text += "contexts:\n- name: troupe\n  context:\n    cluster: troupe\n    user: admin\n";
  text += "current-context: troupe\n";
  return text;
}

}  // namespace troupe::server
