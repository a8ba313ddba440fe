// Faults of plane_faults that delay messages until the sender has given them up.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>

#include "system/network/joined_cluster.hpp"
#include "system/node.hpp"
#include "system/planes/plane_faults.hpp"

namespace troupe::test {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

namespace {

// Longer than the time-out of a transaction (persistence/etcd/etcd.hpp).
constexpr std::chrono::milliseconds given_up{2'300};
// Longer than a lease too, and than the repetition of a transaction; shorter than the time-outs
// between members (5 s).
constexpr std::chrono::milliseconds late{3'200};
// Less than what the store takes for a stream that has stopped.
constexpr std::chrono::milliseconds late_steps{700};
// TCP sends a few frames and keeps the rest until they are acknowledged. The network is repaired
// just before that, so that the rest is not delayed once more, and then a while passes.
constexpr std::chrono::milliseconds margin{100}, arrival{500};
// Enough for a controller to see a deletion and to send its request.
constexpr std::chrono::milliseconds reaction{400};
constexpr std::chrono::milliseconds beyond_lease = plane_cluster::leader_lease + 1s;
constexpr std::chrono::milliseconds leader_limit{60'000}, trace_limit{60'000};
// The fault goes on meanwhile.
constexpr std::chrono::milliseconds removal_limit{5'000};
const std::string all_pods =
    "/api/v1/namespaces/default/pods?labelSelector=app%3Dweb&gracePeriodSeconds=0";

cable late_data(std::chrono::milliseconds delay) {
  return {.delay = delay, .least_delayed_bytes = 100};
}

}  // namespace

// A follower passes requests on to the leader, which executes them after the control plane has sent
// them again through another member.
void plane_faults::delay_requests() {
  delay_requests_of(any(), false);
}

// Does not send them again before they are executed: another control plane leads meanwhile.
void plane_faults::delay_requests_of_leader() {
  delay_requests_of(leader(), true);
}

void plane_faults::delay_requests_of(std::size_t plane, bool paused) {
  const auto used = cluster_.members_in_use();
  const auto member = used[plane];
  // After other faults etcd may be without a leader for a while, or refuse to change it.
  if (!soon(leader_limit, [&] { return cluster_.follow_with(member); }))
    return problem("the leader of etcd does not give up");
  const auto end = clock_type::now() + late - margin;
  for (std::size_t i = 0; i < plane_cluster::size; ++i)
    if (i != member)
      cluster_.network().set(cluster_.member(member).number(), cluster_.member(i).number(),
                             late_data(late));
  if (paused) {
    const auto other = std::find_if(used.begin(), used.end(),
                                    [&](const std::size_t each) { return each != member; });
    if (other != used.end()) remove_pods(static_cast<std::size_t>(other - used.begin()));
    last(reaction, reaction);
    cluster_.plane(plane).pause();
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock_type::now());
  last(std::max(left, 0ms), std::max(left, 0ms));
  cluster_.network().heal();
  last(arrival, arrival);
  if (paused) cluster_.plane(plane).resume();
}

// Between the plan of a transaction and its sending: strace delays each message of the control
// plane, and is stopped itself as soon as the delayed ones contain the plans for removed pods. It
// then holds every thread at its next system call. The messages are sent in the term of another
// leader.
void plane_faults::pause_before_sending() {
  const auto plane = leader();
  const auto id = cluster_.plane(plane).id();
  process tracer{
      {"strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=sendmsg", "-e",
       fmt::format("inject=sendmsg:delay_enter={}", std::chrono::microseconds{reaction}.count()),
       "-p", std::to_string(id)},
      cluster_.folder() / "strace.log"};
  const auto is_traced = [id] {
    return read_file(fmt::format("/proc/{}/status", id)).find("TracerPid:\t0\n") ==
           std::string::npos;
  };
  if (!soon(trace_limit, is_traced)) return problem("strace does not reach the control plane");
  remove_pods((plane + 1) % plane_cluster::size);
  last(reaction, reaction);
  tracer.signal(SIGSTOP);
  last(beyond_lease, 2 * beyond_lease);
  tracer.signal(SIGCONT);
  if (tracer.wait(0ms)) problem("strace has left the control plane");
}

// So that the leading control plane has something to send.
void plane_faults::remove_pods(std::size_t through) {
  try {
    client_on(cluster_.plane(through), removal_limit)->request("DELETE", all_pods);
  } catch (const std::runtime_error&) {
    // Without a response it may have worked.
  }
}

// After their time-out transactions go to the next member, while steps still come from the first
// one, and later than the answers of the other.
void plane_faults::delay_steps() {
  auto& network = cluster_.network();
  const auto plane = any();
  const auto one = cluster_.plane(plane).number();
  const auto member = cluster_.member(cluster_.members_in_use()[plane]).number();
  network.set(one, member, late_data(given_up));
  last(given_up - margin, given_up - margin);
  network.heal();
  network.set(member, one, late_data(late_steps));
  last(2s, 3s);
  network.heal();
}

}  // namespace troupe::test
