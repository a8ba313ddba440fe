// Records that the store reads from its tables.
#include "persistence/format/record.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

bool lies_within(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

std::vector<std::string> changes() {
  persistence::change_record record;
  record.type = persistence::change_type::updated;
  record.created = 3;
  record.previous = 300;
  record.cause = {77, 5, "someone"};
  record.key = "/registry/pods/default/web";
  return {persistence::change_head(record) + "object", persistence::change_key({7, 1}),
          persistence::base_key(9, "/registry/pods/a/b")};
}

void read_change(std::string_view bytes) {
  if (const auto read = persistence::read_change(bytes)) {
    require(lies_within(read->key, bytes) && lies_within(read->object, bytes),
            "a record's parts lie within its bytes");
    const auto head = persistence::change_head(*read);
    const auto again = persistence::read_change(head);
    require(again.has_value() && again->key == read->key && again->type == read->type &&
                again->previous == read->previous && again->created == read->created,
            "a record survives being written");
  }
  if (const auto read = persistence::read_change_key(bytes))
    require(persistence::change_key(*read) == bytes, "a key has one form");
  if (const auto read = persistence::read_base_key(bytes))
    require(lies_within(read->key, bytes), "a key lies within its bytes");
}

std::vector<std::string> states() {
  return {persistence::state_head(3, 300) + "object", "18446744073709551615"};
}

void read_state(std::string_view bytes) {
  if (const auto read = persistence::read_state(bytes))
    require(lies_within(read->object, bytes), "an object lies within its bytes");
  static_cast<void>(persistence::read_number(bytes));
}

}  // namespace

void add_records(std::vector<entry>& to) {
  to.push_back({"change_record", &changes, &read_change});
  to.push_back({"state_record", &states, &read_state});
}

}  // namespace troupe::fuzz
