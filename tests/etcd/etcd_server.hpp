// A member of etcd of the machine's package, alone, with its data in a scratch directory.
#pragma once

#include <sys/types.h>

#include <string>

#include "support/scratch_folder.hpp"

namespace troupe::test {

// A port of loopback that nobody listens at now.
int free_port();

class etcd_server {
 public:
  // Why there is none; empty where there is.
  static std::string missing();

  etcd_server();
  ~etcd_server();
  etcd_server(const etcd_server&) = delete;
  etcd_server& operator=(const etcd_server&) = delete;

  const std::string& endpoint() const { return client_url_; }
  void signal(int number) const;
  // kill -9, and again with the same data.
  void restart();

 private:
  void start();
  void end();

  scratch_folder place_;
  std::string client_url_, peer_url_;
  pid_t process_ = 0;
};

}  // namespace troupe::test
