#include "actors/write/review.hpp"

#include <utility>

#include "api/schema/meta_object.pb.h"

namespace troupe::actors {
namespace {

struct running_review {
  review_host_ptr host;
  draft_ptr write;
  std::function<void(api::expected<void>)> then;
};
using running_review_ptr = std::shared_ptr<running_review>;

admission::question_ptr question_of(const draft& write) {
  const auto& of = write.of;
  auto made = std::make_shared<admission::question>();
  made->kind = of.kind;
  made->op = of.op;
  made->subresource = of.subresource;
  made->user = write.by.name;
  made->groups.assign(write.by.groups.begin(), write.by.groups.end());
  made->dry_run = write.dry_run;
  made->before = of.before;
  if (of.after && of.op != admission::operation::remove) {
    std::unique_ptr<api::body> copy{of.after->New()};
    copy->CopyFrom(*of.after);
    made->now = std::move(copy);
  }
  return made;
}

void ask_from(const running_review_ptr& c, std::size_t index, bool mutating);

// A validating step changes nothing, whatever it returns; neither does a step that reviews a
// deletion.
api::expected<void> take(const running_review& c, admission::reply reply, bool mutating) {
  if (!reply) return api::fail(std::move(reply.error()));
  if (!*reply || !mutating || c.write->of.op == admission::operation::remove) return {};
  auto& of = c.write->of;
  const auto& was = api::meta_of(*of.after);
  auto& now = api::meta_of(**reply);
  now.set_name(was.name());  // a step cannot move the object
  now.set_namespace_(was.namespace_());
  of.after = std::move(*reply);
  of.validated = false;
  return c.host->prepare_again(*c.write);
}

void check_and_go_on(const running_review_ptr& c) {
  if (auto fine = c->host->check_now(*c->write); !fine) return c->then(std::move(fine));
  ask_from(c, 0, false);
}

void ask_from(const running_review_ptr& c, std::size_t index, bool mutating) {
  const auto& steps = c->write->row.external;
  while (index < steps.size() && steps[index]->mutates() != mutating)
    ++index;
  if (index == steps.size()) return mutating ? check_and_go_on(c) : c->then({});
  c->host->calls().ask(*steps[index], question_of(*c->write), c->host->now(),
                       [c, index, mutating](admission::reply reply) {
                         auto answer = std::make_shared<admission::reply>(std::move(reply));
                         c->host->resume([c, index, mutating, answer] {
                           if (auto fine = take(*c, std::move(*answer), mutating); !fine)
                             return c->then(std::move(fine));
                           ask_from(c, index + 1, mutating);
                         });
                       });
}

}  // namespace

void review(review_host_ptr host, draft_ptr write, std::function<void(api::expected<void>)> then) {
  ask_from(std::make_shared<running_review>(
               running_review{std::move(host), std::move(write), std::move(then)}),
           0, true);
}

}  // namespace troupe::actors
