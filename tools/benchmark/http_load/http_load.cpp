#include "benchmark/http_load/http_load.hpp"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

#include "benchmark/http_load/http_load_connection.hpp"

namespace troupe::bench {
namespace {

// A response that takes longer counts as missing.
constexpr std::chrono::seconds patience{30};

std::shared_ptr<SSL_CTX> make_context(const load_options& options) {
  if (!options.tls) return nullptr;
  std::shared_ptr<SSL_CTX> context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context.get(), 1);
  if (options.certificate.empty()) return context;
  BIO* in = BIO_new_mem_buf(options.certificate.data(), -1);
  X509* own = PEM_read_bio_X509(in, nullptr, nullptr, nullptr);
  BIO_free(in);
  in = BIO_new_mem_buf(options.private_key.data(), -1);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(in, nullptr, nullptr, nullptr);
  BIO_free(in);
  const bool good = own != nullptr && key != nullptr &&
                    SSL_CTX_use_certificate(context.get(), own) == 1 &&
                    SSL_CTX_use_PrivateKey(context.get(), key) == 1;
  X509_free(own);
  EVP_PKEY_free(key);
  if (!good) throw std::runtime_error("the client's certificate is not usable");
  return context;
}

// Serves the connections until no response is outstanding.
void run_connections(std::vector<std::unique_ptr<load_connection>>& connections) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  const std::unique_ptr<const int, void (*)(const int*)> closer{&epoll,
                                                                [](const int* e) { ::close(*e); }};
  for (const auto& each : connections) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.ptr = each.get();
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, each->descriptor(), &event);
  }
  for (const auto& each : connections)
    each->start();
  std::array<epoll_event, 64> events;
  while (std::any_of(connections.begin(), connections.end(),
                     [](const auto& each) { return each->waiting() > 0; })) {
    const int count = ::epoll_wait(epoll, events.data(), events.size(),
                                   std::chrono::milliseconds{patience}.count());
    if (count == 0) throw std::runtime_error("no answer within 30 s");
    for (int i = 0; i < count; ++i)
      static_cast<load_connection*>(events[i].data.ptr)->on_event();
  }
}

struct shared_state {
  std::atomic<std::uint64_t> number{0};
  load_clock::time_point until;
  std::uint64_t limit;
};

// Runs one thread's part; returns the error's text, or an empty text.
std::string run_thread(load_thread& thread, std::size_t connections, shared_state& state) {
  thread.take = [&state](std::uint64_t& number) {
    number = state.number.fetch_add(1, std::memory_order_relaxed);
    return number < state.limit && load_clock::now() < state.until;
  };
  try {
    std::vector<std::unique_ptr<load_connection>> all;
    for (std::size_t i = 0; i < connections; ++i)
      all.push_back(thread.options.http2 ? make_http2_load(thread) : make_http1_load(thread));
    run_connections(all);
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

}  // namespace

std::uint32_t load_result::percentile(double percent) const {
  if (latencies_us.empty()) return 0;
  const auto last = static_cast<double>(latencies_us.size() - 1);
  return latencies_us[static_cast<std::size_t>(std::llround(last * percent / 100))];
}

tl::expected<load_result, std::string> run_load(const load_options& options) {
  ::signal(SIGPIPE, SIG_IGN);  // a closed connection must be an error, not the program's end
  try {
    const auto context = make_context(options);
    const auto start = load_clock::now();
    shared_state state;
    state.until = start + options.duration;
    state.limit = options.requests == 0 ? UINT64_MAX : options.requests;
    const auto count = std::clamp<std::size_t>(options.threads, 1, options.connections);
    std::vector<load_thread> parts(count, load_thread{options, context.get(), {}, {}});
    std::vector<std::string> errors(count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      const auto share = options.connections / count + (i < options.connections % count ? 1 : 0);
      threads.emplace_back([&, i, share] { errors[i] = run_thread(parts[i], share, state); });
    }
    for (auto& thread : threads)
      thread.join();
    load_result all;
    all.seconds = std::chrono::duration<double>(load_clock::now() - start).count();
    for (std::size_t i = 0; i < count; ++i) {
      if (!errors[i].empty()) return tl::make_unexpected(errors[i]);
      const auto& part = parts[i].result;
      all.answers += part.answers;
      all.refused += part.refused;
      all.bytes += part.bytes;
      all.latencies_us.insert(all.latencies_us.end(), part.latencies_us.begin(),
                              part.latencies_us.end());
    }
    std::sort(all.latencies_us.begin(), all.latencies_us.end());
    return all;
  } catch (const std::exception& e) {
    return tl::make_unexpected(std::string(e.what()));
  }
}

std::string to_string(const load_result& result) {
  std::array<char, 200> text;
  std::snprintf(text.data(), text.size(),
                "%.0f/s, p50 %u us, p90 %u us, p99 %u us, max %u us, %llu answers, %llu refused, "
                "%.1f MB/s",
                result.per_second(), result.percentile(50), result.percentile(90),
                result.percentile(99), result.percentile(100),
                static_cast<unsigned long long>(result.answers),
                static_cast<unsigned long long>(result.refused),
                static_cast<double>(result.bytes) / 1e6 / std::max(result.seconds, 1e-9));
  return text.data();
}

}  // namespace troupe::bench
