// The HTTP client against a server with canned answers, right and wrong ones.
#include "client/http_client.h"

#include <gtest/gtest.h>

#include "support/fake_server.h"

namespace sluice::client {
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

TEST_F(Http, KeepsOneConnection) {
  for (const char* target : {"GET /a", "GET /b"}) fake_.answer(target, "hello");
  auto http = client();
  EXPECT_TRUE(http.send({.target = "/a"}));
  EXPECT_TRUE(http.send({.target = "/b"}));
  // The fake serves one connection at a time: a second client is heard only when the first one's is gone.
  auto other = client();
  EXPECT_FALSE(other.send({.target = "/a", .timeout = Duration::ms(50)}));
  EXPECT_TRUE(http.send({.target = "/a"}));
}

TEST_F(Http, BoundsTheHeaders) {
  fake_.raw("GET /a", "HTTP/1.1 200 OK\r\nConnection: close\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  auto http = client();
  const auto response = http.send({.target = "/a"});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message, "the answer of " + fake_.address() + " is broken: headers of more than 64 KiB");
}

TEST_F(Http, TakesTheAnswerOfAServerThatRefusesTheBody) {
  fake_.raw("POST /a", "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
  auto http = client();
  EXPECT_EQ(http.send({.method = "POST", .target = "/a", .body = "x"}).value().status, 413);
  EXPECT_EQ(http.send({.method = "POST", .target = "/a"}).value().status, 413);  // on a new connection
  EXPECT_NE(fake_.heard().back().head.find("Content-Length: 0\r\n"), std::string::npos);
}

TEST(UnixSocket, IsAConnectionLikeAnyOther) {
  const std::string path = testing::TempDir() + "sluice-client-test-" + std::to_string(::getpid());
  FakeServer fake(path);
  fake.answer("GET /a", "hello");
  HttpClient http(parse_server("unix:" + path).value(), "secret");
  for (int i = 0; i < 2; ++i) {
    const auto response = http.send({.target = "/a"});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "hello");
  }
  EXPECT_NE(fake.heard().front().head.find("Host: localhost\r\n"), std::string::npos);
  ::unlink(path.c_str());
  HttpClient nobody(parse_server("unix:" + path).value(), "");
  EXPECT_EQ(nobody.send({}).error().message, "no server at unix:" + path +
                                                 " (No such file or directory): start one with `sluice up`, or name "
                                                 "another with --server or SLUICE_DATA, its data directory");
  HttpClient too_long(parse_server("unix:/" + std::string(200, 'x')).value(), "");
  EXPECT_NE(too_long.send({}).error().message.find("at most 107 bytes"), std::string::npos);
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
  EXPECT_FALSE(parse_server("http://10.0.0.1:80/").value().tls);
  EXPECT_TRUE(parse_server("https://example.org:8443/").value().tls);
  EXPECT_EQ(parse_server("https://example.org:8443/").value().text(), "https://example.org:8443");
  EXPECT_EQ(parse_server("https://example.org:8443").value().host_and_port(), "example.org:8443");
  EXPECT_EQ(parse_server("[::1]:9").value().host, "::1");
  EXPECT_EQ(parse_server("[::1]").value().text(), "[::1]:8000");
  EXPECT_EQ(parse_server("unix:/run/sluice.sock").value().path, "/run/sluice.sock");
  EXPECT_EQ(parse_server("unix:/run/sluice.sock").value().text(), "unix:/run/sluice.sock");
  for (const char* wrong : {"", "unix:", ":80", "a:", "a:x", "a:0", "a:65536", "::1", "[::1", "[::1]8", "ftp://a",
                            "https://", "https://a/b", "a/b"})
    EXPECT_FALSE(parse_server(wrong)) << wrong;
}

TEST(UrlEncoded, KeepsWhatNeedsNoEncoding) {
  EXPECT_EQ(url_encoded("a-b.c_d~9"), "a-b.c_d~9");
  EXPECT_EQ(url_encoded("a/b c?ä"), "a%2Fb%20c%3F%C3%A4");
}

}  // namespace
}  // namespace sluice::client
