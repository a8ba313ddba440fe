// Transcripts of a terminal: commands and their expected output, as data files that anyone can add.
//
//   # A comment.
//   @ --runtime process    flags of the node; three simulated minions by default;
//                          ./web.yaml stands for the path of a file below
//   < web.yaml             a file in the transcript's folder, with the following lines:
//   | apiVersion: v1
//   $ kubectl create -f web.yaml
//   pod/web created
//   $~ kubectl get pods    repeated until the output matches (the whole output is compared)
//   NAME   READY   *
//   ...                    any number of lines, including none
//   ~ web +1/1 +Running.*  a regular expression for one line
//   $ [1] kubectl get pod none       with the expected exit code, 0 by default
//   $ {>=1.27} kubectl events        only with these versions of kubectl: also {<1.27}, {=1.27}
//
// Other lines are globs: * stands for any text. Blanks at the end of lines are ignored.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

struct transcript_step {
  std::string command;
  int exit_code = 0;
  bool eventually = false;
  std::string versions;  // ">=1.27", "<1.25", "=1.27", or empty: all
  std::vector<std::string> expected;
  int line = 0;  // of the command in its file
};

struct transcript_file {
  std::string name;
  std::string content;
};

struct transcript {
  std::vector<std::string> flags;
  std::vector<transcript_file> files;
  std::vector<transcript_step> steps;
};

// The files of tests/system/transcripts, sorted by name.
std::vector<std::filesystem::path> transcript_files();

// Throws std::runtime_error that names the line.
transcript parse_transcript(std::string_view text);

// Empty if the output is as expected; otherwise the first line that differs, and why.
std::string mismatch(const std::vector<std::string>& expected, std::string_view output);

// Whether "1.27.16" is ">=1.27".
bool version_fits(std::string_view version, std::string_view condition);

}  // namespace troupe::test
