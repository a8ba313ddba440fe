// The clock that CAF's own actors see, on our timer service.
//
// The stock clock ends an actor whose last reference it holds while it works through its own
// bounded queue, and then waits for itself to make room: it never fires again. Here what is due or
// cancelled is destroyed with no lock held and no queue to fill.
#pragma once

#include <caf/actor_clock.hpp>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/detail/timer_service.hpp"
#include "runtime/unique_function.hpp"

namespace troupe::runtime {

class caf_clock final : public caf::actor_clock, public timer_target {
 public:
  caf_clock(const clock& time, timer_service& timers) : time_{time}, timers_{timers} {}
  ~caf_clock() override { cancel_all(); }

  time_point now() const noexcept override;
  void set_ordinary_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type,
                            std::uint64_t id) override;
  void set_multi_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type,
                         std::uint64_t id) override;
  void set_request_timeout(time_point t, caf::abstract_actor* self, caf::message_id id) override;
  void cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) override;
  void cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) override;
  void cancel_timeouts(caf::abstract_actor* self) override;
  void schedule_message(time_point t, caf::strong_actor_ptr receiver,
                        caf::mailbox_element_ptr content) override;
  void schedule_message(time_point t, caf::group target, caf::strong_actor_ptr sender,
                        caf::message content) override;
  void cancel_all() override;

  // Ends the thread of the timer service, then drops all that is pending.
  void stop();

  void retain() noexcept override {}
  void due(std::uint64_t id) noexcept override;

 private:
  enum class kind { ordinary, multi, request, message };
  struct entry {
    timer_node node;
    caf::actor_id owner = 0;  // 0: nobody can cancel it
    kind type = kind::message;
    std::uint64_t key = 0;
    unique_function<void()> deliver;
  };
  using entries = std::vector<std::unique_ptr<entry>>;

  void add(time_point t, std::unique_ptr<entry> e);
  // Takes out the owner's entries that `matches`; the caller destroys them without the lock.
  template <class F>
  entries extract(caf::actor_id owner, F matches);

  const clock& time_;
  timer_service& timers_;
  std::mutex mutex_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<entry>> entries_;
  std::unordered_multimap<caf::actor_id, std::uint64_t> by_owner_;
};

}  // namespace troupe::runtime
