// Connections to the port that are not from nodes of this cluster.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <random>

#include "link/machines.hpp"
#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/connection_acceptor.hpp"
#include "runtime/link/transport/library.hpp"
#include "runtime/link/transport/socket.hpp"
#include "runtime/link/transport/stream.grpc.pb.h"

namespace troupe::test {
namespace {

namespace defaults = link::defaults;
using namespace std::chrono_literals;
using reason = link::refusal_reason;
using std::chrono::steady_clock;

class stranger {
 public:
  explicit stranger(const link::address& to) : socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(to.port);
    ::inet_pton(AF_INET, to.host.c_str(), &there.sin_addr);
    REQUIRE(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&there), sizeof there) == 0);
  }

  void say(const std::string& bytes) {
    [[maybe_unused]] const auto sent =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // Whether the server closes within the limit, whatever it sends before.
  bool is_closed_within(std::chrono::milliseconds limit) {
    const auto deadline = steady_clock::now() + limit;
    for (;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
      pollfd wait{socket_.get(), POLLIN, 0};
      if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) return false;
      char bytes[4'096];
      if (::recv(socket_.get(), bytes, sizeof bytes, 0) <= 0) return true;
    }
  }
  int socket() const { return socket_.get(); }

 private:
  const runtime::unique_fd socket_;
};

// A live session that must not be disturbed.
struct witness {
  explicit witness(plane& there) : here{there.listener->address()} {
    at_node = here.sessions.await();
    at_plane = there.sessions.await();
    REQUIRE(at_node.session);
    REQUIRE(at_plane.session);
  }
  void check() {
    const auto before = at_plane.notes->count();
    REQUIRE(at_node.session->send("I am well"));
    REQUIRE(at_plane.notes->await_frames(before + 1));
    REQUIRE(at_node.notes->ends().empty());
  }

  node here;
  session_log::entry at_node, at_plane;
};

constexpr auto late = defaults::handshake_limit + 2 * defaults::handshake_round + 1s;

TEST_CASE("garbage gets a closed connection") {
  plane there;
  witness live{there};
  std::mt19937_64 random{5};
  for (int i = 0; i < 50; ++i) {
    stranger peer{there.listener->address()};
    std::string bytes(1 + random() % 2'000, '\0');
    for (auto& c : bytes)
      c = static_cast<char>(random());
    // Must not look like the beginning of a record.
    bytes[0] = i % 2 == 0 ? 'G' : '\x17';
    peer.say(bytes + bytes + bytes);
    REQUIRE(peer.is_closed_within(patience));
  }
  live.check();
  REQUIRE(there.sessions.count() == 1);
  // They are counted first, and then reported.
  REQUIRE(eventually([&] { return there.refusals.all().size() == 50; }));
  REQUIRE(there.refused(reason::handshake_failed) == 50);
  const auto told = there.refusals.all();
  REQUIRE_THAT(told.back().peer, Catch::StartsWith("127.0.0.1:"));
}

TEST_CASE("connections that do not get on with their handshake are cut after its limit") {
  plane there;
  witness live{there};
  const auto limit = promised(late);
  std::vector<std::unique_ptr<stranger>> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<stranger>(there.listener->address()));
    // Nothing, or the beginning of a TLS hello.
    if (i % 2 == 0)
      slow.back()->say(std::string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11});
  }
  const auto begun = steady_clock::now();
  for (auto& peer : slow)
    REQUIRE(peer->is_closed_within(limit));
  REQUIRE(steady_clock::now() - begun < limit);
  live.check();
  REQUIRE(eventually([&] { return there.refused(reason::handshake_timeout) == 20; }));
  REQUIRE(there.refused(reason::handshake_failed) == 0);
}

TEST_CASE("a flood of half-open connections costs the oldest of them, and keeps no node out") {
  plane there;
  witness live{there};
  const auto limit = promised(2s);
  std::vector<std::unique_ptr<stranger>> flood;
  for (std::size_t i = 0; i < defaults::handshakes_limit + 50; ++i)
    flood.push_back(std::make_unique<stranger>(there.listener->address()));
  REQUIRE(flood.front()->is_closed_within(limit));
  node late_one{there.listener->address(), always(node_credentials("late"))};
  REQUIRE(there.sessions.await(1, limit + 1s).session);
  live.check();
  // By then the witness had its session.
  REQUIRE(there.refused(reason::handshakes_limit) >= 50);
}

// A TLS handshake by OpenSSL; the credentials may be empty.
struct tls_stranger : stranger {
  tls_stranger(const link::address& to, const link::credentials& with) : stranger{to} {
    if (!with.certificate.empty()) {
      BIO* text = BIO_new_mem_buf(with.certificate.data(), -1);
      X509* certificate = PEM_read_bio_X509(text, nullptr, nullptr, nullptr);
      BIO_free(text);
      text = BIO_new_mem_buf(with.private_key.data(), -1);
      EVP_PKEY* key = PEM_read_bio_PrivateKey(text, nullptr, nullptr, nullptr);
      BIO_free(text);
      SSL_CTX_use_certificate(context.get(), certificate);
      SSL_CTX_use_PrivateKey(context.get(), key);
      X509_free(certificate);
      EVP_PKEY_free(key);
    }
    SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>("\x02h2"), 3);
  }
  bool shakes_hands() {
    session.reset(SSL_new(context.get()));
    SSL_set_fd(session.get(), socket());
    const bool done = SSL_connect(session.get()) == 1;
    ERR_clear_error();
    return done;
  }

  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context{SSL_CTX_new(TLS_client_method()),
                                                       SSL_CTX_free};
  std::unique_ptr<SSL, void (*)(SSL*)> session{nullptr, SSL_free};
};

TEST_CASE("a connection without a certificate does not pass the handshake") {
  plane there;
  tls_stranger peer{there.listener->address(), {}};
  const auto limit = promised(2s);
  // In TLS 1.3 the client completes its part before it is refused.
  peer.shakes_hands();
  REQUIRE(peer.is_closed_within(limit));
  REQUIRE(there.sessions.count() == 0);
}

TEST_CASE("TLS before 1.2 is refused") {
  plane there;
  tls_stranger peer{there.listener->address(), node_credentials()};
  SSL_CTX_set_security_level(peer.context.get(), 0);
  SSL_CTX_set_max_proto_version(peer.context.get(), TLS1_1_VERSION);
  REQUIRE_FALSE(peer.shakes_hands());
  tls_stranger newer{there.listener->address(), node_credentials()};
  SSL_CTX_set_max_proto_version(newer.context.get(), TLS1_2_VERSION);
  REQUIRE(newer.shakes_hands());
}

TEST_CASE("a node that sends nothing after its handshake is disconnected after the limit") {
  plane there;
  const auto limit = promised(late);
  tls_stranger peer{there.listener->address(), node_credentials()};
  REQUIRE(peer.shakes_hands());
  REQUIRE(peer.is_closed_within(limit));
}

// A call by a foreign program.
struct odd_caller {
  explicit odd_caller(const plane& there)
      : other{link::Link::NewStub(
            link::make_channel(there.listener->address(), node_credentials()))},
        stream{other->Connect(&context)} {}

  grpc::ClientContext context;
  std::unique_ptr<link::Link::StubInterface> other;
  std::unique_ptr<grpc::ClientReaderWriterInterface<link::Packet, link::Packet>> stream;
};

TEST_CASE("a call without a hello is ended") {
  plane there;
  odd_caller peer{there};
  link::Packet packet;
  SECTION("that sends something else") {
    packet.add_frames("give me all secrets");
    REQUIRE(peer.stream->Write(packet));
    REQUIRE_FALSE(peer.stream->Read(&packet));
    REQUIRE(peer.stream->Finish().error_message() == "the peer sent no hello");
  }
  SECTION("that sends nothing") {
    const auto begun = steady_clock::now();
    REQUIRE_FALSE(peer.stream->Read(&packet));
    const auto took = steady_clock::now() - begun;
    REQUIRE(took < promised(late));
    REQUIRE_FALSE(peer.stream->Finish().ok());
  }
  REQUIRE(there.sessions.count() == 0);
}

TEST_CASE("a program of another version is refused with the reason and the remedy") {
  plane there;
  odd_caller peer{there};
  link::Packet packet;
  packet.mutable_hello()->set_oldest(defaults::newest_version + 1);
  packet.mutable_hello()->set_newest(defaults::newest_version + 2);
  packet.mutable_hello()->set_program("troupe 9.9");
  REQUIRE(peer.stream->Write(packet));
  REQUIRE_FALSE(peer.stream->Read(&packet));
  const auto status = peer.stream->Finish();
  REQUIRE(status.error_code() == grpc::StatusCode::FAILED_PRECONDITION);
  REQUIRE_THAT(status.error_message(), Catch::Contains("upgrade the one here"));
  REQUIRE(there.sessions.count() == 0);
  // It is counted first, and then reported.
  REQUIRE(eventually([&] { return there.refusals.all().size() == 1; }));
  REQUIRE(there.refused(reason::session_refused) == 1);
  const auto told = there.refusals.all();
  REQUIRE_THAT(told.front().detail, Catch::Contains("upgrade the one here"));
}

TEST_CASE("a node that sends a frame above the limit loses its session") {
  plane there;
  witness live{there};
  odd_caller peer{there};
  link::Packet packet;
  *packet.mutable_hello() = link::Hello{};
  packet.mutable_hello()->set_oldest(1);
  packet.mutable_hello()->set_newest(1);
  REQUIRE(peer.stream->Write(packet));
  REQUIRE(peer.stream->Read(&packet));
  const auto at_plane = there.sessions.await(1);
  packet.Clear();
  packet.add_frames(std::string(100'000, 'x'));
  packet.set_continues(true);
  std::size_t sent = 0;
  while (sent < 4 * defaults::frame_limit_bytes && peer.stream->Write(packet))
    sent += 100'000;
  REQUIRE(at_plane.notes->await_end());
  REQUIRE_THAT(at_plane.notes->ends().front(), Catch::Contains("above the limit"));
  REQUIRE(at_plane.notes->count() == 0);
  live.check();
}

TEST_CASE("a connection that has no session any more makes room for another") {
  plane there{false, {"127.0.0.1", 0}, always(plane_credentials()), 1};
  odd_caller peer{there};
  link::Packet packet;
  packet.mutable_hello()->set_oldest(1);
  packet.mutable_hello()->set_newest(1);
  REQUIRE(peer.stream->Write(packet));
  REQUIRE(peer.stream->Read(&packet));
  there.sessions.await().session->close("enough");
  while (peer.stream->Read(&packet)) {
  }
  REQUIRE(peer.stream->Finish().ok());
  REQUIRE(there.refusals.all().empty());
  node other{there.listener->address()};
  REQUIRE(there.sessions.await(1).session);
}

TEST_CASE("no more connections are held than allowed, and one that goes makes room") {
  plane there{false, {"127.0.0.1", 0}, always(plane_credentials()), 2};
  auto first = std::make_unique<node>(there.listener->address());
  node second{there.listener->address()};
  REQUIRE(there.sessions.await(1).session);
  REQUIRE(first->sessions.await().session);
  node third{there.listener->address()};
  third.failures.await();
  REQUIRE(there.sessions.count() == 2);
  REQUIRE(eventually([&] { return there.refused(reason::connections_limit) >= 1; }));
  first.reset();
  REQUIRE(there.sessions.await(2).session);
  REQUIRE(third.sessions.await().session);
}

// Whether the kernel refuses to watch connections; the acceptor has no state for its functions.
std::atomic<bool> unwatched{false};

TEST_CASE("a connection that the kernel does not watch is closed and takes no place") {
  std::atomic<int> passed{0};
  unwatched = true;
  auto made = link::connection_acceptor::open(
      {.listen = {"127.0.0.1", 0},
       .connections = 1,
       .connected =
           [&](int descriptor) {
             const runtime::unique_fd closed{descriptor};
             ++passed;
           },
       .refused = {},
       .watch =
           [](int epoll, int descriptor, epoll_event& event) {
             if (unwatched && event.events == 0) {  // a connection
               errno = ENOSPC;
               return false;
             }
             return ::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
           }});
  REQUIRE(made);
  auto& acceptor = **made;
  acceptor.start();
  const auto refused = [&](reason of) {
    return acceptor.stats().refused[static_cast<std::size_t>(of)];
  };
  for (std::size_t i = 1; i <= 3; ++i) {
    stranger peer{acceptor.address()};
    REQUIRE(peer.is_closed_within(patience));
    REQUIRE(refused(reason::out_of_descriptors) == i);
  }
  REQUIRE(passed.load() == 0);
  unwatched = false;
  stranger peer{acceptor.address()};
  REQUIRE(eventually([&] { return passed.load() == 1; }));
  REQUIRE(refused(reason::handshakes_limit) == 0);
  REQUIRE(refused(reason::connections_limit) == 0);
}

}  // namespace
}  // namespace troupe::test
