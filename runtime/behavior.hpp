// The dispatch table of a class of actors: which member function handles which message type.
//
//   const behavior& make_behavior() const override {
//     static const behavior table = handlers(&scheduler::on_pod, &scheduler::on_node);
//     return table;
//   }
//
// A handler takes `const M&`; a handler of a request also takes `promise<Reply>`.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/message.hpp"
#include "runtime/promise.hpp"

namespace troupe::runtime {

class actor;

class behavior {
 public:
  // Calls the handler for `content`; returns false if there is none for its type, and then `answer`
  // is still pending. A request whose handler takes no promise fails with
  // `request_error::unhandled`.
  bool dispatch(actor& self, const message& content, promise_base& answer) const;

 private:
  struct entry {
    const message_type* type;
    void (*call)(actor& self, const void* content, promise_base& answer, const void* method);
    alignas(void*) unsigned char method[2 * sizeof(void*)];  // a member function pointer
  };
  std::vector<entry> entries_;

  template <class... Methods>
  friend behavior handlers(Methods... methods);
  template <class A, class M>
  void add(void (A::*method)(const M&));
  template <class A, class M, class Reply>
  void add(void (A::*method)(const M&, promise<Reply>));
};

template <class... Methods>
behavior handlers(Methods... methods) {
  behavior table;
  (table.add(methods), ...);
  return table;
}

template <class A, class M>
void behavior::add(void (A::*method)(const M&)) {
  static_assert(sizeof method <= sizeof entry::method);
  entry e{&message_type::of<M>(),
          [](actor& self, const void* content, promise_base&, const void* stored) {
            auto call = *static_cast<void (A::*const*)(const M&)>(stored);
            (static_cast<A&>(self).*call)(*static_cast<const M*>(content));
          },
          {}};
  __builtin_memcpy(e.method, &method, sizeof method);
  entries_.push_back(e);
}

template <class A, class M, class Reply>
void behavior::add(void (A::*method)(const M&, promise<Reply>)) {
  static_assert(sizeof method <= sizeof entry::method);
  entry e{&message_type::of<M>(),
          [](actor& self, const void* content, promise_base& answer, const void* stored) {
            auto call = *static_cast<void (A::*const*)(const M&, promise<Reply>)>(stored);
            (static_cast<A&>(self).*call)(*static_cast<const M*>(content),
                                          promise<Reply>{std::move(answer)});
          },
          {}};
  __builtin_memcpy(e.method, &method, sizeof method);
  entries_.push_back(e);
}

}  // namespace troupe::runtime
