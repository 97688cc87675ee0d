// What the server does not put up with: sizes, times, numbers and strangers.
#include "gateway/http_server.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "gateway/client.h"
#include "gateway/compression.h"
#include "gateway/handlers.h"

namespace sluice::gateway {
namespace {

TEST(HttpLimits, RefusesAChunkExtensionWithoutEnd) {
  Calls handler(describe);
  const auto server = serve(handler);
  Client client(server->port());
  const std::string head = "POST /c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3;";
  EXPECT_EQ(client.ask(head + std::string(40000, 'x')).status, 400);
}

TEST(HttpLimits, RefusesOtherEncodings) {
  Calls handler(describe);
  const auto server = serve(handler);
  const Answered answer = Client(server->port()).post("/", "x", "Content-Encoding: br\r\n");
  EXPECT_EQ(answer.status, 501);
  EXPECT_EQ(answer.body, R"({"error":"Unsupported compression type"})");
  EXPECT_TRUE(answer.has("Accept-Encoding: gzip, deflate\r\n"));
}

TEST(HttpLimits, DoesNotUnpackMoreThanABodyMayHave) {
  Calls handler(describe);
  const auto server = serve(handler, {.body_bytes_max = 1 << 20});
  const std::string bomb = pack(Encoding::gzip, std::string(50'000'000, '\0'));
  const Answered answer = Client(server->port()).post("/", bomb, "Content-Encoding: gzip\r\n");
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.body, R"({"error":"unpacked body is longer than 1048576 bytes"})");
  wait_until([&] { return server->body_bytes() == 0; });
}

TEST(HttpLimits, LimitsTheHead) {
  Calls handler(describe);
  const auto server = serve(handler);
  const Answered answer =
      Client(server->port()).ask("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(answer.status, 431);
  EXPECT_EQ(answer.body, R"({"error":"the head of the request is longer than 16384 bytes"})");
  std::string flood = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  for (int i = 0; i < 5000; ++i) flood += "H" + std::to_string(i) + ": x\r\n";
  EXPECT_EQ(Client(server->port()).ask(flood).status, 431);
  EXPECT_EQ(Client(server->port()).ask("GET /" + std::string(100'000, 'x')).status, 431);
}

TEST(HttpLimits, LimitsTheBodyBeforeReadingIt) {
  Calls handler(describe);
  const auto server = serve(handler, {.body_bytes_max = 1000});
  const Answered answer =
      Client(server->port()).ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n");
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(
      answer.body,
      R"({"error":"the body of the request is longer than 1000 bytes: 'sluice up --max-request-bytes' says how long it may be"})");
  EXPECT_TRUE(answer.has("Connection: close"));
  const std::string chunked =
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'x');
  EXPECT_EQ(Client(server->port()).ask(chunked + "\r\n0\r\n\r\n").status, 413);
}

TEST(HttpLimits, LimitsTheBytesOfAllBodies) {
  Calls handler(describe);
  const auto server = serve(handler, {.bodies_bytes_max = 300'000});
  Client first(server->port()), second(server->port());
  first.send("POST /first HTTP/1.1\r\nHost: localhost\r\nContent-Length: 250000\r\n\r\n" + std::string(249'999, 'x'));
  wait_until([&] { return server->body_bytes() >= 240'000; });
  const Answered refused =
      second.ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 250000\r\n\r\n" + std::string(100'000, 'x'));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body, R"({"error":"too many bytes of request bodies in flight"})");
  EXPECT_TRUE(refused.has("Retry-After: 1"));
  EXPECT_EQ(first.ask("x").status, 200);
  wait_until([&] { return server->body_bytes() == 0; });
}

TEST(HttpLimits, RefusesWhatIsNoHttp) {
  Calls handler(describe);
  const auto server = serve(handler);
  EXPECT_EQ(Client(server->port()).ask("hello\r\n\r\n").status, 400);
  EXPECT_EQ(Client(server->port())
                .ask("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")
                .status,
            400);
  EXPECT_EQ(Client(server->port()).ask("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n").status,
            501);
  EXPECT_EQ(
      Client(server->port())
          .ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
          .status,
      400);
}

TEST(HttpLimits, WantsExactlyOneHost) {
  Calls handler(describe);
  const auto server = serve(handler);
  const auto ask = [&](const std::string& head) { return Client(server->port()).ask("GET / HTTP/1." + head + "\r\n"); };
  EXPECT_EQ(ask("1\r\n").status, 400);
  EXPECT_EQ(ask("1\r\n").body, R"({"error":"the request has no Host field, which HTTP/1.1 demands"})");
  EXPECT_EQ(ask("1\r\nHost: a\r\nhost: a\r\n").status, 400);
  EXPECT_EQ(ask("0\r\nHost: a\r\nHost: b\r\n").body, R"({"error":"the request has several Host fields: send one"})");
  EXPECT_EQ(ask("1\r\nHost:\r\n").status, 200);
  EXPECT_EQ(ask("0\r\n").status, 200);
  EXPECT_TRUE(ask("1\r\n").has("Connection: close"));
}

// What one reader takes for the end of a request another one takes for its middle.
TEST(HttpLimits, RefusesTransferCodingsThatHideRequests) {
  Calls handler(describe);
  const auto server = serve(handler);
  const auto ask = [&](std::string_view version, const std::string& fields) {
    return Client(server->port())
        .ask("POST / HTTP/" + std::string(version) + "\r\nHost: a\r\n" + fields + "\r\n0\r\n\r\n")
        .status;
  };
  EXPECT_EQ(ask("1.1", "Transfer-Encoding: Chunked\r\n"), 200);
  for (const std::string other : {"gzip", "gzip, chunked", "chunked, gzip", "identity", "xchunked", "chunked, chunked"})
    EXPECT_EQ(ask("1.1", "Transfer-Encoding: " + other + "\r\n"), 501) << other;
  EXPECT_EQ(ask("1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(ask("1.1", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400);
  EXPECT_EQ(ask("1.1", "Content-Length: 5\r\nTransfer-Encoding: gzip\r\n"), 400);
  EXPECT_EQ(ask("1.0", "Transfer-Encoding: chunked\r\n"), 400);
}

TEST(HttpLimits, GivesUpOnAHeadThatTrickles) {
  Calls handler(describe);
  const auto server = serve(handler, {.head_timeout = Duration::ms(40)});
  Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n");
  const Answered answer = client.receive();
  EXPECT_EQ(answer.status, 408);
  EXPECT_EQ(answer.body, R"({"error":"the head of the request took too long"})");
}

TEST(HttpLimits, GivesUpOnABodyThatStandsStill) {
  Calls handler(describe);
  const auto server = serve(handler, {.body_timeout = Duration::ms(40)});
  for (const std::string_view length : {"100", "100000"}) {
    Client client(server->port());
    client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::string(length) + "\r\n\r\nabc");
    EXPECT_EQ(client.receive().status, 408);
    client.send("now it comes, and nobody wants it any more");
    client.end_sending();
    EXPECT_TRUE(client.is_closed());
    wait_until([&] { return server->body_bytes() == 0; });
  }
}

TEST(HttpLimits, ClosesIdleConnections) {
  Calls handler(describe);
  const auto server = serve(handler, {.idle_timeout = Duration::ms(150)});
  Client client(server->port());
  EXPECT_EQ(client.get("/").status, 200);
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpLimits, GivesUpOnAClientThatDoesNotRead) {
  Flag asked;
  Calls handler([&](const Request&, const Respond& respond) {
    reply(respond, std::string(64u << 20, 'x'));
    asked.raise();
  });
  const auto server = serve(handler, {.body_timeout = Duration::ms(60)});
  Client client(server->port(), 4096);
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  asked.wait();
  wait_until([&] { return server->connections() == 0; });
}

TEST(HttpLimits, WaitsForAnswersWithoutTimeout) {
  Desk desk;
  Calls handler([&](const Request&, const Respond& respond) { desk.put(respond); });
  const ServerOptions options{
      .head_timeout = Duration::ms(150), .body_timeout = Duration::ms(150), .idle_timeout = Duration::ms(150)};
  const auto server = serve(handler, options);
  Client waiting(server->port());
  waiting.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Respond respond = desk.take();
  Client idle(server->port());
  EXPECT_TRUE(idle.is_closed());  // so long the other has waited as well
  reply(respond, "at last");
  EXPECT_EQ(waiting.receive().body, "at last");
}

TEST(HttpLimits, RefusesConnectionsOverTheLimit) {
  Calls handler(describe);
  const auto server = serve(handler, {.connections_max = 2});
  Client first(server->port()), second(server->port());
  EXPECT_EQ(first.get("/").status, 200);
  EXPECT_EQ(second.get("/").status, 200);
  {
    Client third(server->port());
    const Answered refused = third.get("/");
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.body, R"({"error":"too many connections: at most 2 may be open"})");
    EXPECT_TRUE(third.is_closed());
  }
  first.close();
  wait_until([&] { return server->connections() < 2; });
  EXPECT_EQ(Client(server->port()).get("/").status, 200);
}

// --- who is not let in is refused by the head alone

constexpr std::size_t kUpload = 30u << 20;

Admission keep_out(const Knock& knock) {
  return knock.key == "right" ? Admission(Principal{.tenant = "acme", .role = Role::caller})
                              : Admission(Reply{.status = 401, .body = "who are you?"});
}

TEST(HttpLimits, RefusesStrangersBeforeTheirBodiesCome) {
  Calls handler(describe, keep_out);
  const auto server = serve(handler);
  Client sized(server->port()), chunked(server->port());
  EXPECT_EQ(
      sized.ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(kUpload) + "\r\n\r\n").status,
      401);
  EXPECT_EQ(chunked.ask("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n").status, 401);
  EXPECT_EQ(server->body_bytes(), 0u);
}

TEST(HttpLimits, DoesNotAskStrangersForTheirBodies) {
  Calls handler(describe, keep_out);
  const auto server = serve(handler);
  Client client(server->port());
  const Answered first = client.ask(
      "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\nX-API-Key: wrong\r\n\r\n");
  EXPECT_EQ(first.status, 401);
  Client known(server->port());
  EXPECT_EQ(known
                .ask("POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\nX-API-Key: "
                     "right\r\n\r\n")
                .status,
            100);
}

// Two that would fill all there is for bodies: nobody else notices.
TEST(HttpLimits, KeepsNothingOfWhatStrangersSend) {
  Calls handler(describe, keep_out);
  const auto server = serve(handler, {.bodies_bytes_max = kUpload});
  const std::string head =
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(kUpload) + "\r\n\r\n";
  const std::string most(kUpload - 1, 'x');
  Client first(server->port()), second(server->port());
  for (Client* stranger : {&first, &second}) {
    stranger->send(head);
    std::thread sending([&] { stranger->send(most); });  // until it is hung up on
    EXPECT_EQ(stranger->receive().status, 401);
    EXPECT_EQ(server->body_bytes(), 0u);
    Client known(server->port());
    EXPECT_EQ(known.post("/a", std::string(kUpload / 2, 'y'), "X-API-Key: right\r\n").status, 200);
    stranger->end_sending();
    sending.join();
  }
}

TEST(HttpLimits, GoesOnWithAConnectionWhoseRefusedRequestHadNoBody) {
  Calls handler(describe, keep_out);
  const auto server = serve(handler);
  Client client(server->port());
  client.send(
      "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\nGET /b HTTP/1.1\r\nHost: localhost\r\nX-API-Key: right\r\n\r\nGET /c "
      "HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive().status, 401);
  EXPECT_EQ(client.receive().body, "/b? ");
  EXPECT_EQ(client.receive().status, 401);
}

TEST(HttpLimits, TellsTheHandlerWhoAsks) {
  const auto whose = [](const Request& request, const Respond& respond) {
    reply(respond, request.principal.tenant + " " + std::string(name_of(request.principal.role)));
  };
  Calls handler(whose, keep_out);
  const auto server = serve(handler);
  Client client(server->port());
  EXPECT_EQ(client.post("/", "", "Authorization: bearer right\r\n").body, "acme caller");
  EXPECT_EQ(client.post("/", std::string(2u << 20, 'x'), "X-API-Key: right\r\n").body, "acme caller");
}

}  // namespace
}  // namespace sluice::gateway
