#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "benchmark/http_load/http_load_connection.hpp"

namespace troupe::bench {

void load_thread::answered(int status, std::size_t bytes, load_clock::time_point asked) {
  using std::chrono::microseconds;
  const auto took = std::chrono::duration_cast<microseconds>(load_clock::now() - asked);
  ++result.answers;
  result.refused += status >= 400 ? 1 : 0;
  result.bytes += bytes;
  result.latencies_us.push_back(static_cast<std::uint32_t>(took.count()));
}

load_socket::load_socket(const load_thread& thread) {
  const auto& options = thread.options;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  if (::inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1)
    throw std::runtime_error("not an IPv4 address: " + options.host);
  descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0 ||
      ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error(std::string("no connection: ") + std::strerror(errno));
  const int on = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (thread.tls != nullptr) {
    ssl_ = SSL_new(thread.tls);
    const std::string protocol = options.http2 ? std::string("\x02h2") : "\x08http/1.1";
    SSL_set_alpn_protos(ssl_, reinterpret_cast<const unsigned char*>(protocol.data()),
                        static_cast<unsigned int>(protocol.size()));
    SSL_set_fd(ssl_, descriptor_);
    if (SSL_connect(ssl_) != 1) throw std::runtime_error("no TLS handshake");
  }
  ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
}

load_socket::~load_socket() {
  SSL_free(ssl_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

void load_socket::flush() {
  while (!waiting_.empty()) {
    ERR_clear_error();
    const auto sent =
        ssl_ != nullptr
            ? SSL_write(ssl_, waiting_.data(), static_cast<int>(waiting_.size()))
            : static_cast<int>(::send(descriptor_, waiting_.data(), waiting_.size(), MSG_NOSIGNAL));
    if (sent > 0) {
      waiting_.erase(0, static_cast<std::size_t>(sent));
      continue;
    }
    const bool later = ssl_ != nullptr ? SSL_get_error(ssl_, sent) == SSL_ERROR_WANT_WRITE
                                       : errno == EAGAIN || errno == EWOULDBLOCK;
    if (later) return;
    throw std::runtime_error("the server takes no more requests");
  }
}

std::size_t load_socket::read(char* into, std::size_t size) {
  ERR_clear_error();
  const auto got = ssl_ != nullptr ? SSL_read(ssl_, into, static_cast<int>(size))
                                   : static_cast<int>(::recv(descriptor_, into, size, 0));
  if (got > 0) return static_cast<std::size_t>(got);
  const bool later = ssl_ != nullptr ? SSL_get_error(ssl_, got) == SSL_ERROR_WANT_READ
                                     : got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  if (!later) throw std::runtime_error("the server ended the connection");
  return 0;
}

}  // namespace troupe::bench
