// The log as bytes: what was written is read, and whatever else there is, is an error with its place.
#include <gtest/gtest.h>

#include <sstream>

#include "base/save.h"
#include "base/text.h"
#include "domain/limits.h"
#include "record/log_reader.h"
#include "record/log_writer.h"
#include "support/fields.h"

namespace sluice::record {
namespace {

const LogHeader kHeader{.scheduler = "sluice", .parameters = {{"margin", 0.2}}, .limits = {.requests_max = 7}};

// What a reader makes of a log.
struct Reading {
  std::size_t records = 0;
  std::string error;
  bool cut_off = false;
  std::uint64_t offset = 0;
};

Reading read(const std::string& bytes) {
  std::istringstream in(bytes);
  auto log = LogReader::open(in);
  if (!log) return {.error = log.error().message};
  Reading out;
  for (;;) {
    const auto record = log->next();
    out.offset = log->offset();
    out.cut_off = log->cut_off();
    if (!record) out.error = record.error().message;
    if (!record || !*record) return out;
    ++out.records;
  }
}

std::string header_only() {
  std::string out;
  LogWriter(out).header(kHeader);
  return out;
}

std::string small_log() {
  std::string out = header_only();
  LogWriter writer(out);
  writer.observed(InvokerLost{InvokerId(3), 4}, Time::from_ns(10));
  writer.decided({.at = Time::from_ns(10), .commands = 2, .hash = 99});
  writer.observed(RequestCancelled{RequestId(5)}, Time::from_ns(20));
  return out;
}

// A record with content of its own making.
std::string framed(const std::string& content) {
  std::string out;
  save(frame_of(content), out);
  return out + content;
}

TEST(Log, GivesBackHeaderAndRecordsInOrder) {
  std::istringstream in(small_log());
  auto log = LogReader::open(in);
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log->header().scheduler, "sluice");
  EXPECT_EQ(log->header().parameters, kHeader.parameters);
  EXPECT_EQ(log->header().limits.requests_max, 7u);
  const auto first = log->next(), second = log->next(), third = log->next(), end = log->next();
  ASSERT_TRUE(first.ok() && second.ok() && third.ok() && end.ok());
  EXPECT_EQ(std::get<Observed>(**first).at, Time::from_ns(10));
  EXPECT_EQ(std::get<InvokerLost>(std::get<Observed>(**first).event).epoch, 4u);
  EXPECT_EQ(std::get<Decided>(**second), (Decided{.at = Time::from_ns(10), .commands = 2, .hash = 99}));
  EXPECT_EQ(std::get<RequestCancelled>(std::get<Observed>(**third).event).id, RequestId(5));
  EXPECT_FALSE(end->has_value());
  EXPECT_EQ(log->offset(), small_log().size());
}

TEST(Log, HoldsEveryFieldOfItsRecords) {
  EXPECT_EQ(visited_count<LogHeader>(), field_count<LogHeader>());
  EXPECT_EQ(visited_count<core::Limits>(), field_count<core::Limits>());
  EXPECT_EQ(visited_count<Observed>(), field_count<Observed>());
  EXPECT_EQ(visited_count<Decided>(), field_count<Decided>());
}

TEST(Log, EveryChangedByteIsFound) {
  const std::string log = small_log();
  for (std::size_t i = 0; i < log.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = log;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      const Reading reading = read(changed);
      EXPECT_NE(reading.error, "") << "byte " << i << " bit " << bit;
      EXPECT_FALSE(reading.cut_off) << "byte " << i << " bit " << bit;
    }
  }
}

TEST(Log, ATornLastRecordIsToldFromDamage) {
  const std::string log = small_log();
  std::vector<std::size_t> ends;  // of whole records
  for (std::size_t size = header_only().size(); size <= log.size(); ++size) {
    const Reading reading = read(log.substr(0, size));
    if (reading.error.empty()) {
      ends.push_back(size);
      EXPECT_EQ(reading.offset, size);
      EXPECT_EQ(reading.records + 1, ends.size());
      continue;
    }
    EXPECT_TRUE(reading.cut_off) << size;
    EXPECT_EQ(reading.offset, ends.back()) << size;
    EXPECT_NE(reading.error.find("byte " + std::to_string(ends.back()) + " "), std::string::npos) << reading.error;
  }
  EXPECT_EQ(ends.size(), 4u);
}

// A server that was killed leaves the room that it had made for the log.
TEST(Log, EndsWhereRoomBegins) {
  const std::string log = small_log();
  const Reading whole = read(log);
  for (const std::size_t room : {1u, 15u, 16u, 17u, 3u << 20}) {
    const Reading reading = read(log + std::string(room, '\0'));
    EXPECT_EQ(reading.error, "") << room;
    EXPECT_EQ(reading.records, whole.records);
    EXPECT_EQ(reading.offset, whole.offset);
  }
  // Killed while it wrote: the frame comes last.
  const Reading torn = read(log + std::string(kRecordFrameBytes, '\0') + "content" + std::string(100, '\0'));
  EXPECT_TRUE(torn.cut_off);
  EXPECT_EQ(torn.records, whole.records);
}

TEST(Log, CanBeContinuedWhereItWasCutOff) {
  const std::string log = small_log();
  const Reading torn = read(log.substr(0, log.size() - 1));
  ASSERT_TRUE(torn.cut_off);
  std::string again = log.substr(0, torn.offset);
  LogWriter(again).observed(RequestCancelled{RequestId(5)}, Time::from_ns(20));
  EXPECT_EQ(again, log);
}

TEST(Log, NamesTheByteOfARecordThatMakesNoSense) {
  const std::string at = "the record at byte " + std::to_string(header_only().size()) + " of the log ";
  EXPECT_EQ(read(header_only() + framed("")).error, at + "makes no sense: it is neither an event nor a decision");
  EXPECT_EQ(read(header_only() + framed("\x09")).error, at + "makes no sense: it is neither an event nor a decision");
  EXPECT_EQ(read(header_only() + framed(std::string("\0", 1))).error,
            at + "makes no sense: it is neither an event nor a decision");
  EXPECT_EQ(read(header_only() + framed("\x01nonsense")).error,
            at + "makes no sense: it holds no event, or one of another version of Sluice");
}

TEST(Log, RefusesALengthBeyondTheLimitBeforeReadingIt) {
  const auto length = static_cast<std::uint32_t>(limits::log_record_bytes_max + 1);
  std::string frame;
  save(RecordFrame{length, ~length, 0}, frame);
  EXPECT_NE(read(header_only() + frame).error.find("at most 268435456 are allowed"), std::string::npos);
}

TEST(Log, RefusesWhatIsNoLog) {
  EXPECT_EQ(read("").error, "this is no event log: it does not begin with 'sluicelog'");
  EXPECT_EQ(read("application: a\n").error, "this is no event log: it does not begin with 'sluicelog'");
  const std::string mark = str("sluicelog", static_cast<char>(kLogVersion));
  EXPECT_EQ(read("sluicelog\x01").error,
            str("the log has format version 1; this program reads ", std::uint32_t{kLogVersion}));
  EXPECT_EQ(read(mark).error, "the log ends before its header");
  EXPECT_EQ(read(mark + framed("\x01")).error, "the record at byte 10 of the log is no header");
}

}  // namespace
}  // namespace sluice::record
