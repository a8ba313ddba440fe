// Every decoder that reads bytes from outside, as a function of bytes that libFuzzer and the suite
// call: it must take anything, and what it accepts must keep the decoder's promises (written again
// and read again it is the same; what is refused is refused with a 4xx). A broken promise ends the
// program, as a crash would.
//
// Pure and without threads: the same bytes always do the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::fuzz {

struct entry {
  std::string_view name;
  // What to begin with besides the files of corpus/NAME.
  std::vector<std::string> (*seeds)();
  void (*run)(std::string_view bytes);
};

const std::vector<entry>& entries();
// Null where there is none of that name.
const entry* find_entry(std::string_view name);

// Runs the entry; where a promise breaks, the bytes are printed before the end.
void run(const entry& target, std::string_view bytes);

// -- by room --------------------------------------------------------------------------------------

void add_documents(std::vector<entry>& to);        // objects in all their forms, patches
void add_schemas(std::vector<entry>& to);          // custom kinds, server-side apply
void add_definitions(std::vector<entry>& to);      // CustomResourceDefinitions and their objects
void add_texts(std::vector<entry>& to);            // selectors, amounts, times, the configuration
void add_transports(std::vector<entry>& to);       // HTTP/1.1, WebSocket, targets, tokens
void add_sessions(std::vector<entry>& to);         // HTTP/2
void add_records(std::vector<entry>& to);          // what the store reads back
void add_upstream_values(std::vector<entry>& to);  // what kube-apiserver has stored
void add_dns_messages(std::vector<entry>& to);     // questions and answers of DNS
void add_link_packets(std::vector<entry>& to);     // of a link: greeting, packets
void add_link_frames(std::vector<entry>& to);      // of a link: what is in its frames
void add_aggregation(std::vector<entry>& to);      // what servers of aggregated APIs say

// Ends the program with the promise that does not hold.
void require(bool holds, const char* promise);

}  // namespace troupe::fuzz
