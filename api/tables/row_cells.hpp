// The cells of a row, and the functions that write them for each kind; for files of this folder and
// the table of rows (kinds/).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/codec/json_text.hpp"
#include "api/fwd.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/tables/age.hpp"
#include "api/tables/table.hpp"

namespace troupe::api {

class row_cells {
 public:
  row_cells(std::string& out, std::int64_t now_seconds) : out_(out), now_seconds_(now_seconds) {}

  row_cells& text(std::string_view value) {
    next();
    append_json_string(out_, value);
    return *this;
  }
  // With a placeholder for an absent value.
  row_cells& text_or(std::string_view value, std::string_view absent) {
    return text(value.empty() ? absent : value);
  }
  row_cells& number(std::int64_t value) {
    next();
    append_number(out_, value);
    return *this;
  }
  row_cells& boolean(bool value) {
    next();
    out_ += value ? "true" : "false";
    return *this;
  }
  row_cells& age(std::int64_t since_seconds) { return text(age_of(since_seconds)); }
  row_cells& age(const meta::v1::ObjectMeta& meta) {
    return age(meta.creation_timestamp().seconds());
  }

  std::string age_of(std::int64_t since_seconds) const {
    return age_at(now_seconds_, since_seconds);
  }

 private:
  void next() {
    if (any_) out_ += ',';
    any_ = true;
  }

  std::string& out_;
  std::int64_t now_seconds_;
  bool any_ = false;
};

inline constexpr std::string_view none_text = "<none>";

// "a=1,b=2", sorted; "<none>" without labels.
std::string shown_labels(const google::protobuf::Map<std::string, std::string>& labels);
// "nginx,sidecar", and the containers' images.
std::string container_names(const core::v1::PodSpec& spec);
std::string container_images(const core::v1::PodSpec& spec);

// -- columns and cells of each kind, for its row (kind_row.hpp) ---------------------------------

extern const std::span<const table_column> pod_columns;
void pod_cells(row_cells& into, const body& content);
// The condition Completed, for rows that clients may omit: JSON, or empty.
std::string_view pod_row_conditions(const body& content);

extern const std::span<const table_column> service_columns;
void service_cells(row_cells& into, const body& content);
extern const std::span<const table_column> endpoints_columns;
void endpoints_cells(row_cells& into, const body& content);

extern const std::span<const table_column> node_columns;
void node_cells(row_cells& into, const body& content);

extern const std::span<const table_column> event_columns;
void event_cells(row_cells& into, const body& content);

extern const std::span<const table_column> controller_columns;
// For a ReplicationController or a ReplicaSet.
template <class Object>
void controller_cells(row_cells& into, const body& content);
extern const std::span<const table_column> deployment_columns;
void deployment_cells(row_cells& into, const body& content);
extern const std::span<const table_column> namespace_columns;
void namespace_cells(row_cells& into, const body& content);
extern const std::span<const table_column> config_map_columns;
void config_map_cells(row_cells& into, const body& content);
extern const std::span<const table_column> secret_columns;
void secret_cells(row_cells& into, const body& content);
extern const std::span<const table_column> account_columns;
void account_cells(row_cells& into, const body& content);
extern const std::span<const table_column> lease_columns;
void lease_cells(row_cells& into, const body& content);
extern const std::span<const table_column> priority_columns;
void priority_cells(row_cells& into, const body& content);
extern const std::span<const table_column> scale_columns;
void scale_cells(row_cells& into, const body& content);
extern const std::span<const table_column> template_columns;
void template_cells(row_cells& into, const body& content);

}  // namespace troupe::api
