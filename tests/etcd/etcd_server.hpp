// A single member of the machine's etcd package, with its data in a scratch directory.
#pragma once

#include <sys/types.h>

#include <string>

#include "support/scratch_folder.hpp"

namespace troupe::test {

// A loopback port that is free now.
int free_port();

// PEM files of a member that accepts only clients with a certificate of one of the authorities,
// which it reads when it starts. Without a certificate it serves without TLS.
struct etcd_tls {
  std::string certificate = {}, key = {}, client_authorities = {};
};

class etcd_server {
 public:
  // Why no etcd can run; empty if one can.
  static std::string missing();

  // The database has at most `quota_bytes`; 0: etcd's default.
  explicit etcd_server(std::size_t quota_bytes = 0, etcd_tls tls = {});
  ~etcd_server();
  etcd_server(const etcd_server&) = delete;
  etcd_server& operator=(const etcd_server&) = delete;

  const std::string& endpoint() const { return client_url_; }
  void signal(int number) const;
  // Kills it with SIGKILL, and starts it again with the same data.
  void restart();

 private:
  void start();
  void end();

  scratch_folder place_;
  const etcd_tls tls_;
  std::string client_url_, peer_url_;
  const std::size_t quota_bytes_;
  pid_t process_ = 0;
};

}  // namespace troupe::test
