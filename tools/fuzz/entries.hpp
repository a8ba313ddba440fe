// Every decoder that reads bytes from outside, as a function of bytes that libFuzzer and the suite
// call. It must handle any input and keep the decoder's invariants: accepted input is the same
// after another write and read, refused input is refused with a 4xx. A broken invariant ends the
// program, as a crash would.
//
// Pure and without threads: the same bytes always give the same result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::fuzz {

struct entry {
  std::string_view name;
  // Inputs to start with besides the files of corpus/NAME.
  std::vector<std::string> (*seeds)();
  void (*run)(std::string_view bytes);
};

const std::vector<entry>& entries();
// Null if no entry has this name.
const entry* find_entry(std::string_view name);

// Runs the entry; if an invariant breaks, prints the bytes before the program ends.
void run(const entry& target, std::string_view bytes);

// -- by room --------------------------------------------------------------------------------------

void add_documents(std::vector<entry>& to);        // objects in all their forms, patches
void add_schemas(std::vector<entry>& to);          // custom kinds, server-side apply
void add_definitions(std::vector<entry>& to);      // CustomResourceDefinitions and their objects
void add_texts(std::vector<entry>& to);            // selectors, amounts, times, the configuration
void add_transports(std::vector<entry>& to);       // HTTP/1.1, WebSocket, targets, tokens
void add_sessions(std::vector<entry>& to);         // HTTP/2
void add_records(std::vector<entry>& to);          // records of the store
void add_upstream_values(std::vector<entry>& to);  // values that kube-apiserver has stored
void add_dns_messages(std::vector<entry>& to);     // questions and answers of DNS
void add_link_packets(std::vector<entry>& to);     // of a link: greeting, packets
void add_link_frames(std::vector<entry>& to);      // of a link: contents of its frames
void add_aggregation(std::vector<entry>& to);      // responses of aggregated API servers

// Ends the program with the broken invariant's text if `holds` is false.
void require(bool holds, const char* promise);

}  // namespace troupe::fuzz
