#include "sluice/report/report_page.h"

#include <zlib.h>

#include <nlohmann/json.hpp>

#include "report/page/page_parts.h"
#include "sluice/support/error.h"
#include "sluice/support/version.h"

namespace sluice {
namespace {

/// Above it a document is packed.
constexpr std::size_t kPackedFromBytes = 400'000;

/// Text that stands between tags.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '<')
      result += "&lt;";
    else if (letter == '&')
      result += "&amp;";
    else
      result += letter;
  }
  return result;
}

/// JSON that ends no script: `<` stands in texts only, where it may be written as an escape.
std::string within_script(const std::string& json) {
  std::string result;
  result.reserve(json.size());
  for (const char letter : json) {
    if (letter == '<')
      result += "\\u003c";
    else
      result += letter;
  }
  return result;
}

std::string gzip(const std::string& text) {
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kMemoryLevel = 9;
  z_stream stream{};
  SLUICE_CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                            Z_DEFAULT_STRATEGY) == Z_OK,
               "zlib does not start");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  SLUICE_CHECK(status == Z_STREAM_END, "zlib does not end");
  return packed;
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t b = 0; b < 3; ++b)
      group = group << 8 | (i + b < bytes.size() ? static_cast<unsigned char>(bytes[i + b]) : 0U);
    for (std::size_t letter = 0; letter < 4; ++letter)
      text += i + letter > bytes.size() ? '=' : kLetters[group >> (18 - 6 * letter) & 63U];
  }
  return text;
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string data_element(const NamedDocument& document) {
  const std::string name = "{\"name\":" + within_script(json_text(document.name));
  const std::string content = document.text.size() < kPackedFromBytes
                                  ? ",\"document\":" + within_script(document.text)
                                  : ",\"gzip\":\"" + base64(gzip(document.text)) + "\"";
  return "<script type=\"application/json\">" + name + content + "}</script>\n";
}

void fill_in(std::string& text, const std::string& place, const std::string& value) {
  const std::size_t at = text.find(place);
  SLUICE_CHECK(at != std::string::npos, "the page has no place for " + place);
  text.replace(at, place.size(), value);
}

}  // namespace

std::string report_page(const std::vector<NamedDocument>& documents) {
  std::string names;
  for (const NamedDocument& document : documents)
    names += (names.empty() ? "" : ", ") + document.name;
  std::string page(cli::kPageHead);
  fill_in(page, "@VERSION@", std::string(version()));
  fill_in(page, "@TITLE@", escaped(names) + " · Sluice");
  for (const NamedDocument& document : documents) page += data_element(document);
  page += cli::kPageTail;
  return page;
}

}  // namespace sluice
