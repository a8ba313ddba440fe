#include "server/rest/watch/watch_form.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "api/conversion/shapes.hpp"
#include "server/http/upgrade.hpp"
#include "server/rest/answers/frames.hpp"
#include "server/streams/answer_stream.hpp"

namespace troupe::server {
namespace {

class streamed final : public watch_form {
 public:
  streamed(const call& call, const list_options& options)
      : cache_{call.services.frames},
        kind_{call.route.kind},
        labels_{options.labels},
        fields_{options.fields},
        form_{call.form, call.rows, true} {
    form_.answer.pretty = false;
  }

  actors::object_filter filter() const override {
    if (labels_.everything() && fields_.everything()) return {};
    return [labels = labels_, fields = fields_](const api::object& object) {
      return labels.matches(object.meta().labels()) && fields.matches(object.content());
    };
  }

  void open(call& call, std::function<void()> writable, std::function<void()> closed) override {
    response head;
    head.content_type = content_type_of(form_.answer, true);
    const auto& request = *call.request;
    // Browsers require one of their offered subprotocols, whatever it is: events are not in base64.
    out_ = answer_stream::open(request, call.take_over(answer_stream::status_for(request)),
                               std::move(head), offered_protocols(request.headers),
                               {std::move(writable), std::move(closed)});
  }
  // A WebSocket message has no length prefix (kubernetes:
  // apiserver/pkg/endpoints/handlers/watch.go, HandleWS).
  bool write(std::string_view part, const shared_text& frame) override {
    const bool binary = form_.answer.media == api::media::protobuf;
    if (binary && out_.by_messages()) part.remove_prefix(frame_length_bytes);
    return out_.write(part, frame, binary);
  }
  std::size_t part_bytes() const override {
    return out_.by_messages() ? SIZE_MAX : watch_form::part_bytes();
  }
  void close() override { out_.close(); }

  // Only the first event of a table has the column definitions.
  shared_text event(actors::event_type type, const api::object_ptr& object) override {
    auto frame = cache_.get(form_, type, api::convert_from_home(*kind_, object));
    form_.columns = false;
    return frame;
  }
  shared_text bookmark(std::uint64_t revision, bool initial_end) override {
    return shared_text{bookmark_frame(form_, *kind_, revision, initial_end)};
  }
  shared_text error(const api::error& error) override {
    return shared_text{error_frame(form_, error)};
  }

 private:
  frame_cache& cache_;
  const api::kind_handle kind_;
  const api::label_selector labels_;
  const api::field_selector fields_;
  frame_form form_;
  answer_stream out_;
};

}  // namespace

std::shared_ptr<watch_form> rest_watch_form(const call& call, const list_options& options) {
  return std::make_shared<streamed>(call, options);
}

}  // namespace troupe::server
