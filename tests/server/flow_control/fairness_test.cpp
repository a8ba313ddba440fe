// Short requests concurrent with long answers.
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <thread>

#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr int lists = 40;
constexpr const char* maps_path = "/api/v1/namespaces/default/configmaps";

// A process whose connections list endlessly, forked before threads start.
class listing {
 public:
  listing() {
    REQUIRE((::pipe(orders_) == 0 && ::pipe(words_) == 0));
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) list();
  }
  ~listing() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  // Returns when each has had its first list.
  void go(std::uint16_t port) const {
    REQUIRE(::write(orders_[1], &port, sizeof port) == sizeof port);
    for (int begun = 0; begun < lists;) {
      char done = 0;
      REQUIRE(::read(words_[0], &done, 1) == 1);
      begun += done == first_word;
    }
  }
  // The number of lists since then; the pipe has room for the words of some minutes.
  int ended() const {
    int words = 0;
    REQUIRE(::ioctl(words_[0], FIONREAD, &words) == 0);
    return words;
  }

 private:
  static constexpr char first_word = 'f';

  [[noreturn]] void list() const {
    test::wire_options options;
    options.tls = false;
    if (::read(orders_[0], &options.port, sizeof options.port) != sizeof options.port) ::_exit(1);
    std::vector<std::thread> threads;
    for (int i = 0; i < lists; ++i)
      threads.emplace_back([&] {
        // Received bytes are discarded: the processors are for the server.
        test::wire wire{options};
        for (bool first = true;; first = false) {
          if (!wire.send(std::string{"GET "} + maps_path + " HTTP/1.1\r\nhost: x\r\n\r\n"))
            ::_exit(1);
          std::string end;
          while (!end.ends_with("0\r\n\r\n")) {
            end = end.substr(end.size() - std::min<std::size_t>(end.size(), 8)) +
                  wire.receive(1u << 20);
            if (wire.ended()) ::_exit(1);
          }
          const char word = first ? first_word : 'x';
          if (::write(words_[1], &word, 1) != 1) ::_exit(1);
        }
      });
    for (auto& each : threads)
      each.join();
    ::_exit(0);
  }

  int orders_[2] = {}, words_[2] = {};
  pid_t child_ = 0;
};

double ms_since(clock_type::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock_type::now() - begin).count();
}

// Milliseconds.
double p99_of_gets(test::http_client& client, std::chrono::seconds during) {
  std::vector<double> took;
  // Enough that a single one is not the last hundredth.
  for (const auto until = clock_type::now() + during;
       took.size() < 300 || clock_type::now() < until;) {
    const auto began = clock_type::now();
    REQUIRE(client.get(std::string{maps_path} + "/m0").status == 200);
    took.push_back(ms_since(began));
  }
  std::sort(took.begin(), took.end());
  return took[took.size() * 99 / 100];
}

}  // namespace

TEST_CASE("short requests do not wait for 40 lists of 8 MB", "[fairness]") {
  listing others;
  rest_test server;
  for (int i = 0; i < 1'000; ++i)
    REQUIRE(server
                .post(maps_path, R"({"metadata":{"name":"m)" + std::to_string(i) +
                                     R"("},"data":{"text":")" + std::string(8'000, 'x') + "\"}}")
                .status == 201);
  test::http_client client{server.where()};
  const auto alone = p99_of_gets(client, std::chrono::seconds{1});
  others.go(server.where().port);
  const auto begin = clock_type::now();
  const auto beside = p99_of_gets(client, std::chrono::seconds{3});
  // The time of a list beside the others: a get that waited for them would take as long.
  const auto list = lists * ms_since(begin) / std::max(others.ended(), 1);
  std::cout << "a get, p99: " << alone << " ms alone, " << beside << " ms beside " << lists
            << " lists of 8 MB, which take " << list << " ms each" << std::endl;
  // Other programs on the machine make both longer.
  CHECK(beside <= std::max(30.0, list / 4));
}
