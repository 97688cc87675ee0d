// The HTTP client against a server with canned answers, right and wrong ones.
#include "cli/http_client.h"

#include <gtest/gtest.h>

#include "cli/fake_server.h"

namespace sluice::cli {
namespace {

using test::FakeServer;

class Http : public testing::Test {
 protected:
  [[nodiscard]] HttpClient client(std::string key = "") const {
    return {parse_server(fake_.address()).value(), std::move(key)};
  }
  FakeServer fake_;
};

TEST_F(Http, ReadsAnAnswerWithItsLength) {
  fake_.answer("GET /a", "hello", "200 OK", "Retry-After:  3 \r\n");
  auto http = client("secret");
  const auto response = http.send({.target = "/a"});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "hello");
  EXPECT_EQ(*response->header("retry-after"), "3");
  EXPECT_EQ(response->header("nothing"), nullptr);
  EXPECT_NE(fake_.heard().front().head.find("Host: " + fake_.address() + "\r\n"), std::string::npos);
  EXPECT_NE(fake_.heard().front().head.find("Authorization: Bearer secret\r\n"), std::string::npos);
}

TEST_F(Http, PutsChunksTogether) {
  fake_.raw("GET /a",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            "5;x=y\r\nhello\r\nA\r\n, everyone\r\n0\r\nTrailer: z\r\n\r\n");
  auto http = client();
  for (int i = 0; i < 2; ++i) {  // the connection is kept, so the end was found
    const auto response = http.send({.target = "/a"});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "hello, everyone");
  }
}

TEST_F(Http, ReadsToTheEndWhereNoLengthIsGiven) {
  fake_.raw("GET /a", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello");
  auto http = client();
  EXPECT_EQ(http.send({.target = "/a"}).value().body, "hello");
  EXPECT_EQ(http.send({.target = "/a"}).value().body, "hello");
}

TEST_F(Http, SendsBodiesAndSkipsContinue) {
  fake_.raw("POST /a", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  auto http = client();
  const std::string body(3 << 20, 'x');
  EXPECT_EQ(http.send({.method = "POST", .target = "/a", .body = body}).value().body, "ok");
  EXPECT_EQ(fake_.heard().front().body, body);
}

TEST_F(Http, SaysWhatIsWrongWithAnAnswer) {
  for (const char* bytes : {"SSH-2.0-OpenSSH\r\nConnection: close\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\nConnection: close\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\nConnection: close\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nxyz\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\nabc\r\n"}) {
    FakeServer fake;
    fake.raw("GET /a", bytes);
    HttpClient http(parse_server(fake.address()).value(), "");
    const auto response = http.send({.target = "/a"});
    ASSERT_FALSE(response) << bytes;
    EXPECT_NE(response.error().message.find("is broken"), std::string::npos) << response.error().message;
  }
}

TEST_F(Http, SaysThatAnAnswerWasCutOff) {
  fake_.raw("GET /a", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhello");
  auto http = client();
  const auto response = http.send({.target = "/a"});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message, fake_.address() + " closed the connection without a whole answer");
}

TEST_F(Http, GivesUpOnASilentServer) {
  fake_.raw("GET /a", "");  // and the connection stays open
  auto http = client();
  const auto response = http.send({.target = "/a", .timeout = Duration::ms(20)});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message, fake_.address() + " did not answer in time");
}

TEST(ServerAddress, IsReadInEveryForm) {
  EXPECT_EQ(parse_server("example.org").value().text(), "example.org:8000");
  EXPECT_EQ(parse_server("example.org:80").value().text(), "example.org:80");
  EXPECT_EQ(parse_server("http://10.0.0.1:80/").value().text(), "10.0.0.1:80");
  EXPECT_EQ(parse_server("[::1]:9").value().host, "::1");
  EXPECT_EQ(parse_server("[::1]").value().text(), "[::1]:8000");
  for (const char* wrong : {"", ":80", "a:", "a:x", "a:0", "a:65536", "::1", "[::1", "[::1]8", "https://a", "a/b"})
    EXPECT_FALSE(parse_server(wrong)) << wrong;
}

TEST(UrlEncoded, KeepsWhatNeedsNoEncoding) {
  EXPECT_EQ(url_encoded("a-b.c_d~9"), "a-b.c_d~9");
  EXPECT_EQ(url_encoded("a/b c?ä"), "a%2Fb%20c%3F%C3%A4");
}

}  // namespace
}  // namespace sluice::cli
