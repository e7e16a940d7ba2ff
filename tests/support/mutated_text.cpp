#include "support/mutated_text.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "support/folders.h"

namespace sluice::testing {
namespace {
namespace fs = std::filesystem;

using namespace std::string_literals;

const std::vector<std::string>& pieces() {
  static const std::vector<std::string> kPieces = {"{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   "\"",
                                                   "'",
                                                   ":",
                                                   "-",
                                                   "~",
                                                   "(",
                                                   ")",
                                                   "|",
                                                   "\n",
                                                   "\t",
                                                   "\r",
                                                   ", ",
                                                   "**",
                                                   "*a",
                                                   "&a ",
                                                   "<<: *a",
                                                   "? ",
                                                   "> \n",
                                                   "---\n",
                                                   "...\n",
                                                   "%YAML 1.1\n",
                                                   "!Memory ",
                                                   "!Compute ",
                                                   "!Fork ",
                                                   "{i}",
                                                   "if",
                                                   "for: {i: 0..3}",
                                                   "null",
                                                   "All",
                                                   "~All",
                                                   "{WQ, WK}",
                                                   "include: x.yaml\n",
                                                   "include: .\n",
                                                   "1/0",
                                                   "2**60",
                                                   "ceil(1e300)",
                                                   "M-1",
                                                   "[m,n,m]",
                                                   "[2*m+3*k]",
                                                   "[m-k]",
                                                   "\0"s,
                                                   "\x1b[31m",
                                                   "\xff\xfe",
                                                   "\xc3\x28",
                                                   "\u202e",
                                                   "\U0001F4A9",
                                                   "\xef\xbb\xbf",
                                                   "\x7f",
                                                   "\xc2\x85",
                                                   "\\e[1m"};
  return kPieces;
}

const std::vector<std::string>& numbers() {
  static const std::vector<std::string> kNumbers = {"0",
                                                    "-1",
                                                    "-0",
                                                    "1.5",
                                                    "3",
                                                    "7",
                                                    "4096",
                                                    "1e15",
                                                    "1e18",
                                                    "9e18",
                                                    "1e30",
                                                    "1e308",
                                                    "1e-300",
                                                    "1e-320",
                                                    "inf",
                                                    ".inf",
                                                    "nan",
                                                    ".nan",
                                                    "\"x\"",
                                                    "[]",
                                                    "{}",
                                                    "true",
                                                    "1000000007",
                                                    "9007199254740993",
                                                    "9999999999999999999"};
  return kNumbers;
}

class Mutation {
 public:
  Mutation(std::mt19937_64& random, std::string text, const std::string& other)
      : random_(random), text_(std::move(text)), other_(other) {}

  std::string run() {
    for (std::size_t n = pick(1, 4); n > 0; --n) change();
    return std::move(text_);
  }

 private:
  /// Half of the changes keep the file readable as YAML.
  void change() {
    switch (pick(0, 15)) {
      case 0:
      case 1:
      case 2:
        return replace_word("0123456789.", numbers()[pick(0, numbers().size() - 1)]);
      case 3:
      case 4:
        return exchange_name();
      case 5:
        return lose_line();
      case 6:
        return repeat_line();
      case 7:
        return flip_bit();
      case 8:
        return cut_end();
      case 9:
        return encode();
      case 10:
        return nest();
      default:
        return overwrite();
    }
  }

  std::size_t pick(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random_);
  }
  std::size_t place() { return pick(0, text_.size()); }

  /// A run of characters out of `letters`, from a random place on; npos where there is none.
  std::pair<std::size_t, std::size_t> word(const char* letters) {
    std::size_t begin = text_.find_first_of(letters, place());
    if (begin == std::string::npos) begin = text_.find_first_of(letters);
    if (begin == std::string::npos) return {begin, 0};
    const std::size_t end = text_.find_first_not_of(letters, begin);
    return {begin, (end == std::string::npos ? text_.size() : end) - begin};
  }

  void replace_word(const char* letters, const std::string& by) {
    const auto [begin, length] = word(letters);
    if (begin != std::string::npos) text_.replace(begin, length, by);
  }

  void exchange_name() {
    constexpr const char* kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    const auto [begin, length] = word(kLetters);
    if (begin != std::string::npos) replace_word(kLetters, text_.substr(begin, length));
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> result(1);
    for (const char c : text_)
      if (c == '\n')
        result.emplace_back();
      else
        result.back() += c;
    return result;
  }

  void join(const std::vector<std::string>& lines) {
    text_.clear();
    for (const std::string& line : lines) text_ += (text_.empty() ? "" : "\n") + line;
  }

  void lose_line() {
    std::vector<std::string> all = lines();
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(pick(0, all.size() - 1)));
    join(all);
  }

  void repeat_line() {
    std::vector<std::string> all = lines();
    const std::string line = all[pick(0, all.size() - 1)];
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(pick(0, all.size())), line);
    join(all);
  }

  void flip_bit() {
    if (text_.empty()) return;
    char& c = text_[pick(0, text_.size() - 1)];
    c = static_cast<char>(static_cast<unsigned char>(c) ^ (1U << pick(0, 7)));
  }

  void cut_end() {
    if (pick(0, 2) == 0) text_.resize(place());
  }

  void encode() {
    std::string wide = "\xff\xfe";
    switch (pick(0, 4)) {
      case 0:
        for (const char c : text_) wide += {c, '\0'};
        text_ = wide;
        break;
      case 1:
        text_.insert(0, "\xef\xbb\xbf");
        break;
      case 2:
        std::replace(text_.begin(), text_.end(), '\n', '\r');
        break;
      case 3:
        text_.insert(place(), pick(1, 24), '\0');
        break;
      default:
        for (std::size_t n = pick(1, 24); n > 0; --n)
          text_.insert(place(), 1, static_cast<char>(pick(0, 255)));
        break;
    }
  }

  void nest() {
    const std::size_t deep = std::vector<std::size_t>{5, 70, 3000}[pick(0, 2)];
    text_.insert(place(), deep, "[({"[pick(0, 2)]);
  }

  /// Loses, repeats or overwrites a stretch, or puts in a piece.
  void overwrite() {
    const std::string& piece = pieces()[pick(0, pieces().size() - 1)];
    const std::size_t at = place();
    const std::size_t length = pick(1, 24);
    switch (pick(0, 4)) {
      case 0:
        text_.erase(at, length);
        break;
      case 1:
        text_.insert(at, piece);
        break;
      case 2:
        text_.insert(place(), text_.substr(at, length));
        break;
      case 3:
        text_.replace(at, std::min(length, text_.size() - at), piece);
        break;
      default:
        text_.insert(at, other_.substr(std::min(at, other_.size()), length));
        break;
    }
  }

  std::mt19937_64& random_;
  std::string text_;
  const std::string& other_;
};

}  // namespace

std::vector<std::string> mutable_files() {
  constexpr std::uintmax_t kLargest = 60'000;
  std::vector<std::string> files;
  for (const char* folder : {"library", "tests"})
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(repository_dir() / folder))
      if (entry.path().extension() == ".yaml" && entry.file_size() <= kLargest)
        files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string mutated_text(std::mt19937_64& random, std::string text, const std::string& other) {
  return Mutation(random, std::move(text), other).run();
}

}  // namespace sluice::testing
