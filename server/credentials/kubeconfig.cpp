#include "server/credentials/kubeconfig.hpp"

#include "api/codec/json_text.hpp"
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

std::string kubeconfig(const cluster_access& access, std::string_view user) {
  std::string text = "apiVersion: v1\nkind: Config\nclusters:\n- name: troupe\n  cluster:\n";
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += "    " + std::string{name} + ": " + value + "\n";
  };
  // JSON strings are valid YAML.
  std::string name;
  api::append_json_string(name, user);
  line("server", access.server);
  line("certificate-authority-data", to_base64(access.authority));
  text += "users:\n- name: " + name + "\n  user:\n";
  line("client-certificate-data", to_base64(access.certificate));
  line("client-key-data", to_base64(access.private_key));
  line("token", access.token);
  text += "contexts:\n- name: troupe\n  context:\n    cluster: troupe\n    user: " + name + "\n";
  return text + "current-context: troupe\n";
}

std::string kubeconfig(const endpoint& server, std::string_view authority,
                       const x509::identity& client) {
  return kubeconfig({.server = "https://" + to_string(connectable(server)),
                     .authority = std::string{authority},
                     .certificate = client.certificate,
                     .private_key = client.private_key,
                     .token = {}},
                    "admin");
}

}  // namespace troupe::server
