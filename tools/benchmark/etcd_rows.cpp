// Creates and reads over etcd, compared with a bare client that does the same in the same etcd.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"
#include "etcd/etcd_server.hpp"
#include "persistence/etcd/etcd.hpp"
#include "persistence/replica/log_record.hpp"

namespace troupe::bench {
namespace {

using persistence::log_answer;
using persistence::log_transaction;

constexpr const char* maps = "/api/v1/namespaces/default/configmaps";
constexpr std::size_t value_bytes = 1'000;
constexpr std::chrono::seconds load_time{1};
constexpr int rounds = 7;

struct figures {
  double per_second = 0;
  double p50_us = 0;
};

figures figures_of(std::vector<double> micros, double seconds) {
  if (micros.empty()) throw std::runtime_error{"etcd answered nothing"};
  std::nth_element(micros.begin(), micros.begin() + static_cast<std::ptrdiff_t>(micros.size() / 2),
                   micros.end());
  return {static_cast<double>(micros.size()) / seconds, micros[micros.size() / 2]};
}

// Watches all keys and sends a control plane's requests, without any other work.
class bare_client final : persistence::log_reader {
 public:
  explicit bare_client(const test::etcd_server& etcd) {
    auto opened = persistence::open_etcd({.endpoints = {etcd.endpoint()}});
    if (!opened) throw std::runtime_error{opened.error().message};
    log_ = std::move(*opened);
    write({{}, {{session_, "0"}}}, [this](const log_answer& told) { session_at_ = told.at; });
    wait();
    log_->call_later({}, [this] { log_->follow(session_at_, *this); });
  }
  ~bare_client() override { log_->close(); }

  // Keeps `outstanding` requests in flight.
  figures create(std::size_t outstanding) {
    begin();
    for (std::size_t i = 0; i < outstanding; ++i)
      create_next();
    wait();
    return figures_of(std::move(micros_),
                      std::chrono::duration<double>{clock::now() - began_}.count());
  }
  figures read() {
    begin();
    read_next();
    wait();
    return figures_of(std::move(micros_),
                      std::chrono::duration<double>{clock::now() - began_}.count());
  }

 private:
  void on_steps(std::vector<persistence::log_step>) override {}
  void on_end(persistence::error) override {}

  void begin() {
    micros_ = {};
    began_ = clock::now();
  }
  void write(log_transaction request, std::function<void(const log_answer&)> done) {
    {
      const std::lock_guard lock{mutex_};
      ++under_way_;
    }
    log_->submit(std::move(request), [this, done = std::move(done)](const log_answer& told) {
      done(told);
      leave();
    });
  }
  void create_next() {
    if (clock::now() - began_ > load_time) return;
    const auto key = fmt::format("/bare/{}", number_++);
    const auto sent = clock::now();
    write({{{key, 0}, {session_, session_at_}},
           {{key, std::string(value_bytes, 'x')},
            {std::string{persistence::cause_key},
             "0123456789abcdef 12345 1 2 1764000000000000 kubectl"}}},
          [this, sent](const log_answer& told) {
            if (told.result != log_answer::outcome::committed)
              throw std::runtime_error{"etcd refused a create"};
            note(sent);
            create_next();
          });
  }
  void read_next() {
    if (clock::now() - began_ > load_time) return;
    const auto sent = clock::now();
    {
      const std::lock_guard lock{mutex_};
      ++under_way_;
    }
    log_->newest([this, sent](const auto&) {
      note(sent);
      read_next();
      leave();
    });
  }
  // Called on the thread of the log.
  void note(clock::time_point sent) {
    micros_.push_back(std::chrono::duration<double, std::micro>{clock::now() - sent}.count());
  }
  void leave() {
    const std::lock_guard lock{mutex_};
    if (--under_way_ == 0) idle_.notify_all();
  }
  void wait() {
    std::unique_lock lock{mutex_};
    idle_.wait(lock, [this] { return under_way_ == 0; });
  }

  const std::string session_ = persistence::session_key("bare");
  persistence::revision session_at_ = 0;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t under_way_ = 0;
  std::atomic<std::uint64_t> number_{0};
  clock::time_point began_;
  std::vector<double> micros_;
  std::unique_ptr<persistence::shared_log> log_;
};

load_options creates(const node& n, const std::string& prefix, std::size_t connections,
                     std::size_t streams) {
  auto load = n.load();
  load.http2 = streams > 1;
  load.connections = connections;
  load.streams = streams;
  load.duration = load_time;
  load.next = [prefix](std::uint64_t i) {
    return load_request{
        "POST", maps,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}{}"}},"data":{{"d":"{}"}}}})",
            prefix, i, std::string(value_bytes - 100, 'x')),
        "application/json"};
  };
  return load;
}

load_options gets(const node& n, const std::string& query) {
  auto load = n.load();
  load.connections = 1;
  load.duration = load_time;
  load.next = [query](std::uint64_t i) {
    return load_request{"GET", fmt::format("{}/one0-{}{}", maps, i % 100, query), {}, {}};
  };
  return load;
}

double median(std::vector<double> of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

// Alternates the bare client and the control plane, because the speed of etcd's disk varies.
struct comparison {
  std::vector<double> bare, made, ratios;

  void add(double of_bare, double of_made) {
    bare.push_back(of_bare);
    made.push_back(of_made);
    ratios.push_back(of_made / of_bare);
  }
};

}  // namespace

void measure_etcd(results& out, const bench_options& options) {
  if (!test::etcd_server::missing().empty()) return;
  const test::etcd_server etcd;
  bare_client bare{etcd};
  const scratch place;
  const node n{options.program,
               place.path(),
               1,
               {"--store", "etcd", "--etcd-endpoints", etcd.endpoint(),
                "--server-max-writes-in-flight", "300"}};

  comparison one, read;
  for (int round = 0; round < rounds; ++round) {
    const auto bare_one = bare.create(1);
    one.add(bare_one.p50_us,
            must_run(creates(n, fmt::format("one{}-", round), 1, 1)).percentile(50));
  }
  out.add("etcd: HTTP create, 1 connection, p50", median(one.made), "us");
  out.add("… of a bare client", median(one.bare), "us");
  out.add("… ratio", median(one.ratios), "x", at_most(1.4));
  for (const std::size_t outstanding : {32, 256}) {
    comparison rate;
    std::vector<double> processor_us;
    for (int round = 0; round < rounds; ++round) {
      const auto limit = bare.create(outstanding);
      const auto load = creates(n, fmt::format("m{}-{}-", outstanding, round), outstanding / 8, 8);
      const auto before = n.processor_s();
      const auto made = must_run(load);
      rate.add(limit.per_second, made.per_second());
      processor_us.push_back((n.processor_s() - before) * 1e6 / static_cast<double>(made.answers));
    }
    out.add(fmt::format("etcd: HTTP creates, {} outstanding", outstanding), median(rate.made),
            "/s");
    out.add("… of a bare client", median(rate.bare), "/s");
    out.add("… ratio", median(rate.ratios), "x", at_least(0.75));
    out.add("… processor time of the control plane for each", median(processor_us), "us");
  }
  for (int round = 0; round < rounds; ++round) {
    const auto bare_read = bare.read();
    read.add(bare_read.p50_us, must_run(gets(n, {})).percentile(50));
  }
  out.add("etcd: get without resourceVersion, p50", median(read.made), "us");
  out.add("… a bare linearizable read", median(read.bare), "us");
  out.add("… ratio", median(read.ratios), "x", at_most(1.3));
  out.add("… with resourceVersion=0, p50", must_run(gets(n, "?resourceVersion=0")).percentile(50),
          "us");
  out.add("… memory of the control plane", n.memory_mb(), "MB");
}

}  // namespace troupe::bench
