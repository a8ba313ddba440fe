// The log that the control planes of a cluster share: etcd, or a model of it in tests. Keys and
// values are bytes.
//
// - A transaction happens as a whole, or not at all. One that writes has a revision of its own.
// - Every revision changes at least one key, so the steps that a reader is given have no hole.
// - What becomes of a transaction whose answer is `unknown` is not known: it may happen later.
//
// Any thread may call, and no call blocks. Answers, steps and timers come on one thread, that of
// the log, one after the other, and never from within a call.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "persistence/error.hpp"

namespace troupe::persistence {

// The key must have been changed last at this revision, or created at it; 0: it must be absent.
struct log_compare {
  std::string key;
  revision at = 0;
  bool created = false;
};

// Keys that belong to a lease go when it ends: when nobody has renewed it for its time to live, or
// it is revoked.
using lease_id = std::int64_t;

struct log_write {
  std::string key;
  std::optional<std::string> value;  // nothing: the key goes
  lease_id lease = 0;                // 0: of none
};

// Names a key at most once among the writes.
struct log_transaction {
  std::vector<log_compare> compares;
  std::vector<log_write> writes;
};

struct log_answer {
  enum class outcome : std::uint8_t {
    committed,  // `at`: its revision; of one that writes nothing, the newest
    conflict,   // `compare` did not hold, the key was of revision `actual`; `at`: the newest
    refused,    // it has not happened and will not; `reason`
    unknown,    // nobody knows; `reason`
  };
  outcome result = outcome::unknown;
  revision at = 0;
  std::size_t compare = 0;
  revision actual = 0;
  error reason = {errc::unknown, {}};
  bool lease_ended = false;  // refused for that: one of those that it names
};

struct log_change {
  std::string key;
  std::optional<std::string> value;  // nothing: removed
  revision created = 0;              // of the key
};

// All that happened at one revision, in the order of the writes.
struct log_step {
  revision at = 0;
  std::vector<log_change> changes;
};

class log_reader {
 public:
  virtual ~log_reader() = default;
  // In the order of revisions; some may come twice.
  virtual void on_steps(std::vector<log_step> steps) = 0;
  // `compacted` when the log does not have what follows any more. Nothing else comes.
  virtual void on_end(error reason) = 0;
};

struct log_item {
  std::string key, value;
  revision created = 0, modified = 0;
};

struct log_page {
  revision at = 0;
  std::vector<log_item> items;  // in order of key
  bool more = false;
};

class shared_log {
 public:
  virtual ~shared_log() = default;
  // Nothing comes any more when it returns, whatever is asked then. Not from its own thread.
  virtual void close() = 0;

  // Which log it is: differs for every one that was ever made, or restored from a backup.
  virtual void identity(std::function<void(expected<std::string>)> done) = 0;
  virtual void submit(log_transaction request, std::function<void(log_answer)> done) = 0;
  // At least the revision that the log had when this was asked.
  virtual void newest(std::function<void(expected<revision>)> done) = 0;
  // Gives `reader` the steps after `after` from now on; a reader before it gets no more. Called
  // while steps still come, it means that they do not come as they should: another way is taken.
  virtual void follow(revision after, log_reader& reader) = 0;
  // In the newest state; nothing when there is no such key.
  virtual void read(std::string key,
                    std::function<void(expected<std::optional<log_item>>)> done) = 0;
  // Keys greater than `after`, in the state of revision `at`, or with 0 in the newest.
  virtual void list(std::string after, revision at,
                    std::function<void(expected<log_page>)> done) = 0;
  virtual void grant(std::chrono::seconds time_to_live,
                     std::function<void(expected<lease_id>)> done) = 0;
  // How long it lives from now on; 0 when it has ended.
  virtual void renew(lease_id lease, std::function<void(expected<std::chrono::seconds>)> done) = 0;
  virtual void revoke(lease_id lease, std::function<void()> done) = 0;
  // Drops what led to the states before `up_to`, which the log has. They cannot be read any more.
  virtual void compact(revision up_to, std::function<void(expected<void>)> done) = 0;
  // Once, not before `delay` is over.
  virtual void call_later(std::chrono::milliseconds delay, std::function<void()> work) = 0;
};

}  // namespace troupe::persistence
