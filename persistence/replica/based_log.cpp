#include "persistence/replica/based_log.hpp"

#include <utility>

namespace troupe::persistence {

// Passes the steps on, with the base added.
class based_log::reader final : public log_reader {
 public:
  reader(const based_log& from, log_reader& to) : from_{from}, to_{to} {}

  void on_steps(std::vector<log_step> steps) override {
    for (auto& step : steps) {
      step.at = from_.above(step.at);
      for (auto& each : step.changes)
        each.created = from_.above(each.created);
    }
    to_.on_steps(std::move(steps));
  }
  void on_end(error reason) override { to_.on_end(std::move(reason)); }

 private:
  const based_log& from_;
  log_reader& to_;
};

based_log::based_log(std::unique_ptr<shared_log> log, revision base)
    : forwarding_log{std::move(log)}, base_{base} {}

void based_log::submit(log_transaction request, std::function<void(log_answer)> done) {
  // No key of this log can have a revision at or below the base.
  for (auto& each : request.compares)
    if (each.at > base_)
      each.at -= base_;
    else if (each.at != 0)
      each.at = each.end.empty() ? ~revision{0} >> 1 : 0;
  log().submit(std::move(request), [this, done = std::move(done)](log_answer reply) {
    reply.at = above(reply.at);
    reply.actual = above(reply.actual);
    done(std::move(reply));
  });
}

void based_log::newest(std::function<void(expected<revision>)> done) {
  log().newest([this, done = std::move(done)](const expected<revision>& reply) {
    done(reply ? expected<revision>{above(*reply)} : reply);
  });
}

void based_log::follow(revision after, log_reader& to) {
  follow_through(below(after), std::make_unique<reader>(*this, to));
}

void based_log::read(std::string key, std::function<void(expected<std::optional<log_item>>)> done) {
  log().read(std::move(key),
             [this, done = std::move(done)](expected<std::optional<log_item>> found) {
               if (found && *found) {
                 (*found)->created = above((*found)->created);
                 (*found)->modified = above((*found)->modified);
               }
               done(std::move(found));
             });
}

void based_log::list(log_range range, std::function<void(expected<log_page>)> done) {
  range.at = below(range.at);
  log().list(std::move(range), [this, done = std::move(done)](expected<log_page> page) {
    if (page) {
      page->at = above(page->at);
      for (auto& each : page->items) {
        each.created = above(each.created);
        each.modified = above(each.modified);
      }
    }
    done(std::move(page));
  });
}

void based_log::compact(revision up_to, std::function<void(expected<void>)> done) {
  log().compact(below(up_to), std::move(done));
}

}  // namespace troupe::persistence
