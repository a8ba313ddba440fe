// The queue of one actor: any thread pushes without a lock, the owner takes the messages in the
// order of each sender.
//
// CAF's inbox is a stack that the owner reverses when it fetches it. A tag marks a blocked owner,
// so that only the push that wakes it puts the actor on the run queue.
#pragma once

#include <caf/intrusive/lifo_inbox.hpp>
#include <memory>

#include "runtime/detail/envelope.hpp"

namespace troupe::runtime {

class mailbox {
 public:
  enum class push_result { taken, woke_owner, closed };

  mailbox() = default;
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;
  ~mailbox() {
    while (auto waiting = pop())
      waiting.reset();
  }

  push_result push(std::unique_ptr<envelope> e) noexcept {
    switch (inbox_.push_front(e.release())) {
      case caf::intrusive::inbox_result::success:
        return push_result::taken;
      case caf::intrusive::inbox_result::unblocked_reader:
        return push_result::woke_owner;
      default:
        return push_result::closed;
    }
  }

  // -- only for the owner ---

  // The next message to take; null if none waits.
  const envelope* front() noexcept {
    if (first_ == nullptr) fetch();
    return first_;
  }

  // The next message already fetched; null if there is none, though others may wait.
  const envelope* taken_first() const noexcept { return first_; }

  // Takes the message that front() returned.
  std::unique_ptr<envelope> pop() noexcept {
    auto* e = first_;
    if (e == nullptr) return nullptr;
    first_ = static_cast<envelope*>(e->next);
    if (first_ == nullptr) last_ = nullptr;
    return std::unique_ptr<envelope>{e};
  }

  // Appends newly pushed messages to the fetched ones.
  void fetch() noexcept { append(inbox_.take_head()); }

  // True: the owner is blocked and must not access itself. False: a message was pushed meanwhile.
  bool try_block() noexcept { return inbox_.try_block(); }

  // Rejects further messages; `each` is called for all waiting ones, in order.
  template <class F>
  void close(F each) {
    envelope* oldest = nullptr;
    auto turn_round = [&](envelope* e) {
      e->next = oldest;
      oldest = e;
    };
    inbox_.close(turn_round);
    while (auto waiting = pop())
      each(*waiting);
    first_ = oldest;
    while (auto waiting = pop())
      each(*waiting);
  }

 private:
  struct policy {
    using mapped_type = envelope;
    using unique_pointer = std::unique_ptr<envelope>;
  };

  void append(envelope* newest) noexcept {
    if (newest == nullptr) return;
    auto* const tail = newest;
    envelope* reversed = nullptr;
    while (newest != nullptr) {
      auto* older = static_cast<envelope*>(newest->next);
      newest->next = reversed;
      reversed = newest;
      newest = older;
    }
    if (last_ != nullptr) {
      last_->next = reversed;
    } else {
      first_ = reversed;
    }
    last_ = tail;
  }

  caf::intrusive::lifo_inbox<policy> inbox_;
  envelope* first_ = nullptr;
  envelope* last_ = nullptr;
};

}  // namespace troupe::runtime
