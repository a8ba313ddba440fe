// Keeps an nftables table up to date by scripts: one at a time, later changes go into the next.
// After a failure it backs off and then writes the whole table.
//
// A member of the actor that owns the table; only that actor may call it. It starts with the
// whole table, so nothing has to survive a crash. It periodically checks that the table still
// exists. If another program removes a part of the table, the actor calls `restore`, and the whole
// table is written again. A script without an answer counts as failed; late answers, and answers
// from before a restart of the actor, are ignored.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/actor.hpp"

namespace troupe::actors::nft {

// Identifies a script by its address, which is unique while a pointer to it exists.
struct given_script {};
using script_id = std::shared_ptr<const given_script>;

// The end of a script; the actor passes it to `script_writer::on_done`.
struct script_done {
  script_id script;
  std::string problem;  // empty: it was applied
};

// Message to the actor that owns a table: another program removed a part of the table. The actor
// calls `script_writer::restore`.
struct rules_removed {};

// Message to the actor that owns a table of a family that was refused: why it is still refused;
// empty: it is accepted.
struct family_checked {
  std::string problem;
};
// Checks this on another thread and calls `done` there.
using check_family = std::function<void(std::function<void(std::string problem)> done)>;

enum class extent : std::uint8_t {
  difference,  // to the last script
  whole,       // the complete table
  probe,       // changes nothing, and fails if the table does not exist
};

template <class Table>
std::string text_of(Table& table, extent wanted) {
  switch (wanted) {
    case extent::whole:
      return table.whole();
    case extent::difference:
      return table.difference();
    default:
      return table.probe();
  }
}

struct script_writer_options {
  std::string subject;  // for log lines: "the rules of services"
  // Generates the script; empty: nothing to write.
  std::function<std::string(extent)> text;
  // Runs the script; the actor gets `script_done` when it has ended.
  std::function<void(std::string text, script_id script)> give;
  // Called before the next script is passed to `give`.
  std::function<void(const std::string& problem)> ended;
  // Called when there is nothing to write.
  std::function<void()> up_to_date;
  // `actor::after`.
  std::function<runtime::timer(runtime::duration, runtime::unique_function<void()>)> after;
};

class script_writer {
 public:
  explicit script_writer(script_writer_options options);

  // Generates a script now, or when the running script and the back-off have ended.
  void write();
  // Writes the whole table after a short delay, because another program removed a part of it.
  void restore();
  // Ends the back-off, because a pod waits for the rules.
  void write_at_once();
  void on_done(const script_done& m);

  const std::string& problem() const noexcept { return problem_; }
  std::uint64_t given() const noexcept { return given_; }

 private:
  void give(std::string text);
  void fail(const std::string& problem);
  void probe_later();
  void probe();

  const script_writer_options options_;
  bool whole_ = true;
  script_id running_;
  runtime::duration pause_{0};  // before the next attempt; 0: the last one succeeded
  std::string problem_;
  std::uint64_t given_ = 0;
  runtime::timer retry_, limit_, probe_;
};

}  // namespace troupe::actors::nft
