#include "system/network/witness.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "api/codec/codec.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "system/network/joined_cluster.hpp"

namespace troupe::test {

using api::core::v1::ConfigMapList;
using api::core::v1::Pod;
using api::core::v1::PodList;

namespace {

constexpr std::chrono::milliseconds pause{40};
constexpr std::chrono::milliseconds answer_limit{20'000};
constexpr std::chrono::milliseconds sight_limit{60'000};
constexpr std::size_t violations_kept = 10;
const std::string space = "/api/v1/namespaces/default/";

bool counted_ready(const Pod& pod) {
  const auto& conditions = pod.status().conditions();
  return !pod.metadata().has_deletion_timestamp() &&
         std::any_of(conditions.begin(), conditions.end(), [](const auto& each) {
           return each.type() == "Ready" && each.status() == "True";
         });
}

}  // namespace

witness::witness(const machine& control, int replicas)
    : control_{control}, replicas_{static_cast<std::size_t>(replicas)} {
  thread_ = std::thread{[this] { watch(); }};
}

witness::~witness() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  turn_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool witness::sees_more() const {
  const auto wanted = rounds_ + 10;
  return soon(sight_limit, [&] { return rounds_ >= wanted; });
}

witness::report witness::finish() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  turn_.notify_all();
  thread_.join();
  const auto answer = client_on(control_)->get(space + "configmaps");
  ConfigMapList there;
  if (answer.status != 200 || !api::decode_into(answer.body, api::media::json, there))
    throw std::runtime_error{"the config maps cannot be read: " + answer.body};
  std::set<std::string> names;
  for (const auto& each : there.items())
    names.insert(each.metadata().name());
  seen_.acknowledged = acknowledged_.size();
  seen_.lost = static_cast<std::size_t>(
      std::count_if(acknowledged_.begin(), acknowledged_.end(),
                    [&](const auto& each) { return !names.contains(each); }));
  return seen_;
}

void witness::watch() {
  std::unique_lock lock{mutex_};
  while (!turn_.wait_for(lock, pause, [this] { return stopping_; })) {
    lock.unlock();
    try {
      if (!client_) client_ = client_on(control_, answer_limit);
      write_one();
      look();
      ++rounds_;
    } catch (const std::runtime_error&) {
      client_.reset();  // nobody listens at this moment
    }
    lock.lock();
  }
}

void witness::write_one() {
  const auto name = "w" + std::to_string(next_++);
  const auto answer =
      client_->request("POST", space + "configmaps", R"({"metadata":{"name":")" + name + R"("}})",
                       {{"content-type", "application/json"}});
  if (answer.status == 0) throw std::runtime_error{"no answer"};
  if (answer.status != 201) return;
  acknowledged_.push_back(name);
  const auto now = clock::now();
  seen_.longest_lapse = std::max(
      seen_.longest_lapse, std::chrono::duration_cast<std::chrono::milliseconds>(now - last_));
  last_ = now;
}

void witness::look() {
  const auto answer = client_->get(space + "pods?labelSelector=app%3Dweb");
  PodList found;
  if (answer.status != 200 || !api::decode_into(answer.body, api::media::json, found))
    throw std::runtime_error{"no answer"};
  ++seen_.looks;
  const auto note = [this](std::string violation) {
    if (seen_.violations.size() < violations_kept) seen_.violations.push_back(std::move(violation));
  };
  std::size_t ready = 0;
  for (const auto& each : found.items()) {
    ready += counted_ready(each) ? 1 : 0;
    const auto& node = each.spec().node_name();
    if (node.empty()) continue;
    const auto known = node_of_.emplace(each.metadata().uid(), node).first;
    if (known->second != node)
      note(each.metadata().name() + " was on " + known->second + " and is on " + node);
  }
  if (ready > replicas_) note(std::to_string(ready) + " pods are counted as ready");
}

}  // namespace troupe::test
