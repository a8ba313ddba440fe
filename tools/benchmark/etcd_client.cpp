#include "benchmark/etcd_client.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "benchmark/map_load.hpp"
#include "persistence/etcd/etcd.hpp"
#include "persistence/replica/log_record.hpp"

namespace troupe::bench {

using persistence::log_answer;
using persistence::log_transaction;

etcd_client::etcd_client(const std::string& endpoint, change_handler seen)
    : seen_{std::move(seen)}, session_{persistence::session_key("bare")} {
  auto opened = persistence::open_etcd({.endpoints = {endpoint}});
  if (!opened) throw std::runtime_error{opened.error().message};
  log_ = std::move(*opened);
  write({{}, {{session_, "0"}}}, [this](const log_answer& told) { session_at_ = told.at; });
  wait();
  log_->call_later({}, [this] { log_->follow(session_at_, *this); });
}

etcd_client::~etcd_client() {
  log_->close();
}

etcd_client::figures etcd_client::create(std::size_t outstanding, std::chrono::milliseconds time) {
  begin(time);
  for (std::size_t i = 0; i < outstanding; ++i)
    create_next();
  return end();
}

etcd_client::figures etcd_client::read(std::chrono::milliseconds time) {
  begin(time);
  read_next();
  return end();
}

void etcd_client::on_steps(std::vector<persistence::log_step> steps) {
  if (!seen_) return;
  for (const auto& step : steps)
    for (const auto& change : step.changes)
      seen_(change);
}

void etcd_client::begin(std::chrono::milliseconds time) {
  micros_ = {};
  time_ = time;
  began_ = clock::now();
}

etcd_client::figures etcd_client::end() {
  wait();
  if (micros_.empty()) throw std::runtime_error{"etcd answered nothing"};
  return {static_cast<double>(micros_.size()) / seconds_since(began_), percentile(micros_, 50)};
}

void etcd_client::write(log_transaction request, std::function<void(const log_answer&)> done) {
  enter();
  log_->submit(std::move(request), [this, done = std::move(done)](const log_answer& told) {
    done(told);
    leave();
  });
}

void etcd_client::create_next() {
  if (clock::now() - began_ > time_) return;
  const auto key = fmt::format("/bare/{}", number_++);
  const auto sent = clock::now();
  write({{{key, 0}, {session_, session_at_}},
         {{key, std::string(map_bytes, 'x')},
          {std::string{persistence::cause_key},
           "0123456789abcdef 12345 1 2 1764000000000000 kubectl"}}},
        [this, sent](const log_answer& told) {
          if (told.result != log_answer::outcome::committed)
            throw std::runtime_error{"etcd refused a create"};
          note(sent);
          create_next();
        });
}

void etcd_client::read_next() {
  if (clock::now() - began_ > time_) return;
  const auto sent = clock::now();
  enter();
  log_->newest([this, sent](const auto&) {
    note(sent);
    read_next();
    leave();
  });
}

void etcd_client::note(clock::time_point sent) {
  micros_.push_back(seconds_since(sent) * 1e6);
}

void etcd_client::enter() {
  const std::lock_guard lock{mutex_};
  ++under_way_;
}

void etcd_client::leave() {
  const std::lock_guard lock{mutex_};
  if (--under_way_ == 0) idle_.notify_all();
}

void etcd_client::wait() {
  std::unique_lock lock{mutex_};
  idle_.wait(lock, [this] { return under_way_ == 0; });
}

}  // namespace troupe::bench
