#include "server/credentials/kubeconfig.hpp"

#include "api/values/base64.hpp"

namespace troupe::server {
namespace {

endpoint connectable(endpoint server) {
  if (server.host == "0.0.0.0") server.host = "127.0.0.1";
  if (server.host == "::") server.host = "::1";
  return server;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  api::append_base64(text, bytes);
  return text;
}

}  // namespace

std::string kubeconfig(const endpoint& server, std::string_view authority,
                       const x509::identity& client) {
  std::string text = "apiVersion: v1\nkind: Config\n";
  text += "clusters:\n- name: troupe\n  cluster:\n";
  text += "    server: https://" + to_string(connectable(server)) + "\n";
  text += "    certificate-authority-data: " + to_base64(authority) + "\n";
  text += "users:\n- name: admin\n  user:\n";
  text += "    client-certificate-data: " + to_base64(client.certificate) + "\n";
  text += "    client-key-data: " + to_base64(client.private_key) + "\n";
  text += "contexts:\n- name: troupe\n  context:\n    cluster: troupe\n    user: admin\n";
  text += "current-context: troupe\n";
  return text;
}

}  // namespace troupe::server
