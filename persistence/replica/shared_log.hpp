// The interface of a log that the control planes of a cluster share: etcd, or a model of it in
// tests. Keys and values are bytes.
//
// - A transaction is atomic. One that writes has a revision of its own.
// - Every revision changes at least one key, so a reader sees every revision.
// - If the answer is `unknown`, the transaction may still commit later.
//
// Any thread may call; no call blocks. Answers, steps and timers run on one thread, that of the
// log, one after the other, and never within a call.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "persistence/error.hpp"

namespace troupe::persistence {

// The revision of the key's last change, or of its creation, must be `at`; 0: the key is absent.
// With an `end`: no key from `key` to before `end` was written after `at`.
struct log_compare {
  std::string key;
  revision at = 0;
  bool created = false;
  std::string end = {};
};

// `actual`: the revision of the key, or the newest one of the range; 0: there is no key.
inline bool holds(const log_compare& wanted, revision actual) {
  return wanted.end.empty() ? actual == wanted.at : actual <= wanted.at;
}

// The log deletes the keys of a lease when it ends: when it was not renewed within its time to
// live, or is revoked.
using lease_id = std::int64_t;

struct log_write {
  std::string key;
  std::optional<std::string> value;  // nullopt: delete the key
  lease_id lease = 0;                // 0: no lease
};

// A key occurs at most once in `writes`.
struct log_transaction {
  std::vector<log_compare> compares;
  std::vector<log_write> writes;
};

struct log_answer {
  enum class outcome : std::uint8_t {
    committed,  // `at`: its revision; the newest one if it writes nothing
    conflict,   // compare number `compare` failed, the key has `actual`; `at`: newest revision
    refused,    // not executed, and will not be; with reason `no_space` it may have been executed
    unknown,    // it may or may not commit; see `reason`
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
  std::optional<std::string> value;  // nullopt: removed
  revision created = 0;              // create revision of the key
};

// All changes of one revision, in the order of the writes.
struct log_step {
  revision at = 0;
  std::vector<log_change> changes;
};

class log_reader {
 public:
  virtual ~log_reader() = default;
  // In order of revision; a step may come twice.
  virtual void on_steps(std::vector<log_step> steps) = 0;
  // `compacted` if the log no longer has the next steps. It is the last call.
  virtual void on_end(error reason) = 0;
};

// Keys greater than `after`, in the state of revision `at`, or in the newest for 0.
struct log_range {
  std::string after = {};
  revision at = 0;
  bool keys_only = false;  // the items have empty values
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
  // No callback runs after it returns, nor for later calls. Not on the log's thread.
  virtual void close() = 0;

  // The log's identity, different for each log that is created or restored from a backup.
  virtual void identity(std::function<void(expected<std::string>)> done) = 0;
  virtual void submit(log_transaction request, std::function<void(log_answer)> done) = 0;
  // A revision not older than that of the log at the time of the call.
  virtual void newest(std::function<void(expected<revision>)> done) = 0;
  // Delivers the steps after `after` to `reader`; a previous reader gets no more. A call while
  // steps still arrive means that the stream is faulty: the log then uses another member.
  virtual void follow(revision after, log_reader& reader) = 0;
  // Reads the newest state; nullopt if there is no such key.
  virtual void read(std::string key,
                    std::function<void(expected<std::optional<log_item>>)> done) = 0;
  // The first keys of the range. A page before the end is not empty.
  virtual void list(log_range range, std::function<void(expected<log_page>)> done) = 0;
  virtual void grant(std::chrono::seconds time_to_live,
                     std::function<void(expected<lease_id>)> done) = 0;
  // Returns the lease's time to live from now on; 0 if it has expired. Fails after `limit` at the
  // latest; another member is then asked next.
  virtual void renew(lease_id lease, std::chrono::milliseconds limit,
                     std::function<void(expected<std::chrono::seconds>)> done) = 0;
  virtual void revoke(lease_id lease, std::function<void()> done) = 0;
  // Drops the history before revision `up_to`, which the log must have reached.
  virtual void compact(revision up_to, std::function<void(expected<void>)> done) = 0;
  // Runs `work` once, after `delay` at the earliest.
  virtual void call_later(std::chrono::milliseconds delay, std::function<void()> work) = 0;
};

}  // namespace troupe::persistence
