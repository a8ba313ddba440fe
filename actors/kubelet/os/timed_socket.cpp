#include "actors/kubelet/os/timed_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

namespace troupe::actors {

namespace {

// In Go's words, which users know: "connection refused".
std::string words_of(int code) {
  std::string text = std::strerror(code);
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

tl::unexpected<std::string> failed(int code) {
  return tl::make_unexpected(words_of(code));
}

tl::unexpected<std::string> too_late() {
  return tl::make_unexpected(std::string{timed_socket::late});
}

bool wait_for(int fd, short events, timed_socket::clock::time_point deadline, int cancel) {
  using namespace std::chrono;
  for (;;) {
    const auto left = ceil<milliseconds>(deadline - timed_socket::clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting[] = {{fd, events, 0}, {cancel, POLLIN, 0}};
    const int ready = ::poll(waiting, 2, static_cast<int>(std::min<long long>(left, 60'000)));
    if (ready > 0) return waiting[1].revents == 0;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// -- names ----------------------------------------------------------------------------------------

using addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

struct lookup {
  runtime::unique_fd done{::eventfd(0, EFD_CLOEXEC)};
  addresses found{nullptr, &::freeaddrinfo};
  int problem = 0;  // of getaddrinfo

  void run(const std::string& host, int port, int flags) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV | flags;
    addrinfo* all = nullptr;
    problem = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &all);
    found.reset(all);
  }
};

// Pending lookups, including those that nobody waits for any more.
constexpr int lookups_at_once = 32;
std::atomic<int> lookups{0};

// The C library's resolver has no deadline, so it runs on its own thread, which is abandoned after
// a timeout.
tl::expected<addresses, std::string> resolve(const std::string& host, int port,
                                             timed_socket::clock::time_point deadline, int cancel) {
  const auto one = std::make_shared<lookup>();
  one->run(host, port, AI_NUMERICHOST);
  if (one->problem == EAI_NONAME) {
    const auto busy = [&] {
      --lookups;
      return tl::make_unexpected(fmt::format("lookup {}: the resolver is busy", host));
    };
    if (lookups.fetch_add(1) >= lookups_at_once) return busy();
    try {
      std::thread{[one, host, port] {
        one->run(host, port, 0);
        --lookups;
        ::eventfd_write(one->done.get(), 1);
      }}.detach();
    } catch (const std::system_error&) {  // no thread could be created
      return busy();
    }
    eventfd_t rung = 0;
    if (!wait_for(one->done.get(), POLLIN, deadline, cancel) ||
        ::eventfd_read(one->done.get(), &rung) != 0)
      return tl::make_unexpected(fmt::format("lookup {}: timeout", host));
  }
  if (one->problem != 0)
    return tl::make_unexpected(fmt::format("lookup {}: {}", host, ::gai_strerror(one->problem)));
  return std::move(one->found);
}

SSL_CTX* client_context() {
  static SSL_CTX* const context = [] {
    auto* made = ::SSL_CTX_new(::TLS_client_method());
    ::SSL_CTX_set_verify(made, SSL_VERIFY_NONE, nullptr);
    return made;
  }();
  return context;
}

}  // namespace

struct timed_socket::tls {
  SSL* session;
  ~tls() { ::SSL_free(session); }
};

timed_socket::timed_socket(runtime::unique_fd fd, clock::time_point deadline, int cancel)
    : fd_{std::move(fd)}, deadline_{deadline}, cancel_{cancel} {}
timed_socket::timed_socket(timed_socket&&) noexcept = default;
timed_socket::~timed_socket() = default;

bool timed_socket::wait(short events) const {
  return wait_for(fd_.get(), events, deadline_, cancel_);
}

tl::expected<timed_socket, std::string> timed_socket::connect(const std::string& host, int port,
                                                              clock::time_point deadline,
                                                              int cancel) {
  const auto found = resolve(host, port, deadline, cancel);
  if (!found) return tl::make_unexpected(found.error());
  int problem = ECONNREFUSED;
  for (const auto* each = found->get(); each != nullptr; each = each->ai_next) {
    runtime::unique_fd fd{::socket(each->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd) continue;
    if (::connect(fd.get(), each->ai_addr, each->ai_addrlen) != 0 && errno != EINPROGRESS) {
      problem = errno;
      continue;
    }
    if (!wait_for(fd.get(), POLLOUT, deadline, cancel))
      return tl::make_unexpected(fmt::format("dial tcp {}:{}: i/o timeout", host, port));
    socklen_t size = sizeof problem;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
    if (problem == 0) return timed_socket{std::move(fd), deadline, cancel};
  }
  return tl::make_unexpected(
      fmt::format("dial tcp {}:{}: connect: {}", host, port, words_of(problem)));
}

// Repeats an OpenSSL operation while it has to wait for the socket.
template <class Step>
tl::expected<int, std::string> timed_socket::until_done(Step step) {
  for (;;) {
    ::ERR_clear_error();
    const int done = step();
    if (done > 0) return done;
    const int error = ::SSL_get_error(tls_->session, done);
    if (error == SSL_ERROR_ZERO_RETURN) return 0;
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      const auto code = ::ERR_get_error();
      // Many servers close the connection without a TLS close notification.
      if (code == 0 || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING) return 0;
      if (ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER)
        return tl::make_unexpected(std::string{plain_answer});
      std::array<char, 256> text{};
      ::ERR_error_string_n(code, text.data(), text.size());
      return tl::make_unexpected(std::string{text.data()});
    }
    if (!wait(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT)) return too_late();
  }
}

tl::expected<void, std::string> timed_socket::start_tls(const std::string& host) {
  tls_.reset(new tls{::SSL_new(client_context())});
  ::SSL_set_fd(tls_->session, fd_.get());
  ::SSL_set_tlsext_host_name(tls_->session, host.c_str());
  const auto done = until_done([this] { return ::SSL_connect(tls_->session); });
  if (!done) return tl::make_unexpected(done.error());
  if (*done == 0) return tl::make_unexpected(std::string{"the peer closed during the handshake"});
  return {};
}

std::vector<std::string> timed_socket::shown_certificates() const {
  std::vector<std::string> texts;
  auto* chain = tls_ ? ::SSL_get_peer_cert_chain(tls_->session) : nullptr;
  for (int i = 0; i < (chain == nullptr ? 0 : sk_X509_num(chain)); ++i) {
    const std::unique_ptr<BIO, decltype(&::BIO_free_all)> out{::BIO_new(::BIO_s_mem()),
                                                              &::BIO_free_all};
    ::PEM_write_bio_X509(out.get(), sk_X509_value(chain, i));
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    texts.emplace_back(data, static_cast<std::size_t>(size));
  }
  return texts;
}

tl::expected<std::size_t, std::string> timed_socket::read_some(char* into, std::size_t size) {
  if (tls_) {
    const auto done =
        until_done([&] { return ::SSL_read(tls_->session, into, static_cast<int>(size)); });
    if (!done) return tl::make_unexpected(done.error());
    return static_cast<std::size_t>(*done);
  }
  for (;;) {
    if (!wait(POLLIN)) return too_late();
    const auto n = ::recv(fd_.get(), into, size, 0);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EAGAIN && errno != EINTR) return failed(errno);
  }
}

tl::expected<std::size_t, std::string> timed_socket::write_some(const char* from,
                                                                std::size_t size) {
  if (tls_) {
    const auto done =
        until_done([&] { return ::SSL_write(tls_->session, from, static_cast<int>(size)); });
    if (!done) return tl::make_unexpected(done.error());
    return static_cast<std::size_t>(*done);
  }
  for (;;) {
    if (!wait(POLLOUT)) return too_late();
    const auto n = ::send(fd_.get(), from, size, MSG_NOSIGNAL);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EAGAIN && errno != EINTR) return failed(errno);
  }
}

tl::expected<void, std::string> timed_socket::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = write_some(bytes.data(), bytes.size());
    if (!n) return tl::make_unexpected(n.error());
    if (*n == 0) return tl::make_unexpected(std::string{"the peer closed the connection"});
    bytes.remove_prefix(*n);
  }
  return {};
}

tl::expected<std::string, std::string> timed_socket::read_part() {
  std::array<char, 4096> part;
  const auto n = read_some(part.data(), part.size());
  if (!n) return tl::make_unexpected(n.error());
  return std::string{part.data(), *n};
}

tl::expected<std::string, std::string> timed_socket::read_all(std::size_t limit) {
  std::string text;
  std::array<char, 4096> part;
  while (text.size() < limit) {
    const auto n = read_some(part.data(), std::min(part.size(), limit - text.size()));
    if (!n && text.empty()) return tl::make_unexpected(n.error());
    if (!n || *n == 0) break;
    text.append(part.data(), *n);
  }
  return text;
}

}  // namespace troupe::actors
