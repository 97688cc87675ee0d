// The server on real sockets, with handlers made for the test.
#include "gateway/http_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "base/text.h"
#include "gateway/client.h"
#include "gateway/compression.h"
#include "gateway/handlers.h"

namespace sluice::gateway {
namespace {

TEST(HttpServer, KeepsAConnectionForManyRequests) {
  Calls handler(describe);
  const auto server = serve(handler);
  Client client(server->port());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.get("/a/b?x=1").body, "/a/b?x=1 ");
  EXPECT_EQ(client.post("/p", "body").body, "/p? body");
  EXPECT_EQ(server->connections(), 1u);
}

TEST(HttpServer, ServesItsOwnUserThroughAUnixSocket) {
  const std::string path = str("/tmp/sluice-test-", ::getpid(), ".socket");
  std::atomic<bool> trusted = false;
  Calls handler(describe, [&](const Knock& knock) {
    trusted = knock.trusted;
    return Admission(Principal{});
  });
  auto server = serve(handler, {.socket = path});
  struct stat about {};
  ASSERT_EQ(::stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string request = Client::request("POST", "/p", "body");
  ASSERT_EQ(::send(client, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  char reply[4096] = {};
  ASSERT_GT(::recv(client, reply, sizeof reply - 1, 0), 0);
  EXPECT_NE(std::string(reply).find("/p? body"), std::string::npos) << reply;
  EXPECT_TRUE(trusted);
  ::close(client);
  Client other(server->port());
  EXPECT_EQ(other.get("/a").status, 200u);
  EXPECT_FALSE(trusted);
  server.reset();
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  Desk desk;
  Calls handler([&](const Request& request, const Respond& respond) {
    request.path == "/later" ? desk.put(respond) : describe(request, respond);
  });
  const auto server = serve(handler);
  Client client(server->port());
  client.send(Client::request("POST", "/1", "one") + Client::request("POST", "/later", "") +
              Client::request("POST", "/2", "two") +
              "GET /3 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /4 HTTP/1.1\r\nHost: localhost\r\n");
  EXPECT_EQ(client.receive().body, "/1? one");
  reply(desk.take(), "later");
  EXPECT_EQ(client.receive().body, "later");
  EXPECT_EQ(client.receive().body, "/2? two");
  EXPECT_EQ(client.receive().body, "/3? ");
  client.send("\r\n");
  EXPECT_EQ(client.receive().body, "/4? ");
}

TEST(HttpServer, AnswersALongPipeline) {
  Calls handler(describe);
  const auto server = serve(handler);
  Client client(server->port());
  std::string all;
  for (int i = 0; i < 5000; ++i) all += Client::request("POST", "/" + std::to_string(i), "0123456789");
  std::thread sender([&] { client.send(all); });
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(client.receive().body, "/" + std::to_string(i) + "? 0123456789");
  sender.join();
}

TEST(HttpServer, TakesARequestByteByByte) {
  Calls handler(describe);
  const auto server = serve(handler);
  Client client(server->port());
  for (const char c : Client::request("POST", "/slow", "abc")) client.send({&c, 1});
  EXPECT_EQ(client.receive().body, "/slow? abc");
}

TEST(HttpServer, TakesLargeBodiesAndAnswersThem) {
  Calls handler([](const Request& request, const Respond& respond) { reply(respond, std::string(request.body)); });
  const auto server = serve(handler);
  Client client(server->port());
  for (const std::size_t size : {1000u, 16384u, 16385u, 70000u, 5000000u}) {
    std::string body(size, 'x');
    for (std::size_t i = 0; i < size; i += 97) body[i] = static_cast<char>('a' + i % 26);
    std::thread sender([&] { client.send(Client::request("POST", "/", body)); });
    EXPECT_TRUE(client.receive().body == body) << size;
    sender.join();
  }
  EXPECT_EQ(server->body_bytes(), 0u);
}

TEST(HttpServer, TakesChunkedBodies) {
  Calls handler(describe);
  const auto server = serve(handler);
  Client client(server->port());
  const std::string head = "POST /c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(client.ask(head + "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n").body, "/c? abc0123456789");
  for (const char c : head + "3\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n") client.send({&c, 1});
  EXPECT_EQ(client.receive().body, "/c? abcde");
  EXPECT_EQ(client.ask(head + "zz\r\n").status, 400);
  EXPECT_EQ(server->body_bytes(), 0u);
}

// Each piece arrives by itself.
TEST(HttpServer, TakesChunkedBodiesInPiecesOfAnySize) {
  Calls handler(describe);
  const auto server = serve(handler);
  const std::string head = "POST /c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const auto& [body, answer] : {std::pair<std::string, std::string>("0\r\n\r\n", "/c? "),
                                     {"0;x\r\n\r\n", "/c? "},
                                     {"00\r\nA: b\r\n\r\n", "/c? "},
                                     {"1\r\na\r\n0\r\n\r\n", "/c? a"}}) {
    for (std::size_t size = 1; size < 4; ++size) {
      Client client(server->port());
      client.send(head);
      for (std::size_t at = 0; at < body.size(); at += size) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        client.send(std::string_view(body).substr(at, size));
      }
      EXPECT_EQ(client.receive().body, answer) << body << " in pieces of " << size;
    }
  }
}

TEST(HttpServer, UnpacksAndPacks) {
  Calls handler([](const Request& request, const Respond& respond) {
    respond->respond([body = std::string(request.body)] { return Reply{.body = body, .packable = true}; });
  });
  const auto server = serve(handler);
  Client client(server->port());
  const std::string body(100'000, 'z');
  for (const Encoding encoding : {Encoding::gzip, Encoding::deflate}) {
    const std::string name(name_of(encoding));
    const Answered plain = client.post("/", pack(encoding, body), "Content-Encoding: " + name + "\r\n");
    EXPECT_TRUE(plain.body == body);
    const Answered packed = client.post("/", body, "Accept-Encoding: br, " + name + "\r\n");
    EXPECT_TRUE(packed.has("Content-Encoding: " + name));
    ByteBudget budget(1 << 20);
    BodyBuffer unpacked(budget);
    ASSERT_TRUE(unpack(encoding, packed.body, 1 << 20, unpacked));
    EXPECT_TRUE(unpacked.view() == body);
  }
  EXPECT_FALSE(client.post("/", body, "Accept-Encoding: gzip;q=0\r\n").has("Content-Encoding"));
  const Answered broken = client.post("/", "not gzip", "Content-Encoding: gzip\r\n");
  EXPECT_EQ(broken.status, 400);
  EXPECT_EQ(broken.body, R"({"error":"body is no gzip data"})");
}

// Clients that offer gzip with every request unpack the answers to inferences alone.
TEST(HttpServer, PacksNothingThatIsNotSaidToBePackable) {
  Calls handler([](const Request& request, const Respond& respond) {
    const auto make = [] { return Reply{.body = std::string(100'000, 'z')}; };
    request.path == "/long" ? respond->respond_at_length(make) : respond->respond(make);
  });
  const auto server = serve(handler);
  Client client(server->port());
  for (const std::string_view path : {"/", "/long"}) {
    const Answered answer = client.ask(Client::request("GET", path, "", "Accept-Encoding: gzip, deflate\r\n"));
    EXPECT_FALSE(answer.has("Content-Encoding")) << path;
    EXPECT_TRUE(answer.body == std::string(100'000, 'z')) << path;
  }
}

TEST(HttpServer, TellsWhenTheClientHangsUp) {
  Flag gone;
  Desk desk;
  Calls handler([&](const Request&, const Respond& respond) {
    respond->on_disconnect([&] { gone.raise(); });
    desk.put(respond);
  });
  const auto server = serve(handler);
  Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Respond respond = desk.take();
  client.close();
  gone.wait();
  reply(respond, "nobody reads this");
  respond->on_disconnect([] { ADD_FAILURE() << "answered, so of no interest any more"; });
}

TEST(HttpServer, StillAnswersAClientThatOnlyEndedItsSide) {
  Desk desk;
  Calls handler([&](const Request&, const Respond& respond) { desk.put(respond); });
  const auto server = serve(handler);
  Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.end_sending();
  reply(desk.take(), "bye");
  EXPECT_EQ(client.receive().body, "bye");
  EXPECT_TRUE(client.is_closed());
}

// It is told apart from one that is gone, whose request is given up (TellsWhenTheClientHangsUp).
TEST(HttpServer, DoesNotGiveUpTheRequestOfAClientThatOnlyEndedItsSide) {
  Desk desk;
  std::atomic<bool> gone = false;
  Calls handler([&](const Request&, const Respond& respond) {
    respond->on_disconnect([&] { gone = true; });
    desk.put(respond);
  });
  const auto server = serve(handler);
  Client client(server->port());
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx");
  client.end_sending();
  const Respond respond = desk.take();
  EXPECT_EQ(client.receive().status, 100);  // what finds out whether the client is still there
  EXPECT_EQ(client.receive().status, 100);
  EXPECT_FALSE(gone);
  reply(respond, "after all");
  Answered answer = client.receive();
  while (answer.status == 100) answer = client.receive();
  EXPECT_EQ(answer.body, "after all");
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, AnswersAllThatWasSentBeforeTheClientEndedItsSide) {
  Desk desk;
  Calls handler([&](const Request& request, const Respond& respond) {
    request.path == "/later" ? desk.put(respond) : describe(request, respond);
  });
  const auto server = serve(handler);
  Client client(server->port());
  client.send("GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n" + Client::request("POST", "/2", "two") +
              "GET /3 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /never whole");
  client.end_sending();
  reply(desk.take(), "one");
  EXPECT_EQ(client.receive().body, "one");
  EXPECT_EQ(client.receive().body, "/2? two");
  EXPECT_EQ(client.receive().body, "/3? ");
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, AnswersHeadAsGetWithoutTheBody) {
  Calls handler(describe);
  const auto server = serve(handler);
  Client client(server->port());
  const Answered whole = client.get("/a?b");
  client.send("HEAD /a?b HTTP/1.1\r\nHost: localhost\r\n\r\nGET /next HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive_head(), whole.head);
  EXPECT_TRUE(whole.has("Content-Length: 5\r\n"));
  EXPECT_EQ(client.receive().body, "/next? ");
}

TEST(HttpServer, TakesTargetsThatNameTheHost) {
  std::string host;
  Calls handler(describe, [&](const Knock& knock) {
    host = std::string(knock.host) + " " + std::string(knock.path);
    return Admission(Principal{});
  });
  const auto server = serve(handler);
  Client client(server->port());
  EXPECT_EQ(client.get("http://other:80/v2/x?y=1").body, "/v2/x?y=1 ");
  EXPECT_EQ(host, "other:80 /v2/x");  // not what the field says
  EXPECT_EQ(client.get("HTTPS://other").body, "/? ");
  EXPECT_EQ(client.get("http://other?y").body, "/?y ");
  EXPECT_EQ(client.get("ftp://other/x").body, "ftp://other/x? ");
  EXPECT_EQ(client.get("/a?u=http://other/x").body, "/a?u=http://other/x ");
  EXPECT_EQ(client.get("http:///x").body, R"({"error":"the target of the request names no host"})");
}

TEST(HttpServer, AnswersForAHandlerThatForgets) {
  Calls handler([](const Request&, const Respond&) {});
  const auto server = serve(handler);
  const Answered answer = Client(server->port()).get("/");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, R"({"error":"the request was dropped without an answer"})");
}

TEST(HttpServer, TakesTheFirstOfTwoAnswers) {
  Calls handler([](const Request&, const Respond& respond) {
    reply(respond, "first");
    reply(respond, "second");
  });
  const auto server = serve(handler);
  Client client(server->port());
  EXPECT_EQ(client.get("/").body, "first");
  EXPECT_EQ(client.get("/").body, "first");
}

TEST(HttpServer, SaysContinueToThoseWhoWait) {
  Calls handler(describe);
  const auto server = serve(handler);
  Client client(server->port());
  client.send("POST /e HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100);
  EXPECT_EQ(client.ask("abc").body, "/e? abc");
}

TEST(HttpServer, ClosesWhenTheClientWants) {
  Calls handler(describe);
  const auto server = serve(handler);
  Client modern(server->port()), old(server->port()), kept(server->port()), head(server->port());
  EXPECT_TRUE(modern.ask("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").has("Connection: close"));
  EXPECT_TRUE(modern.is_closed());
  EXPECT_EQ(old.ask("GET / HTTP/1.0\r\n\r\n").status, 200);
  EXPECT_TRUE(old.is_closed());
  EXPECT_TRUE(kept.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").has("Connection: keep-alive"));
  EXPECT_EQ(kept.get("/").status, 200);
  head.send("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(head.receive().body, "");
}

TEST(HttpServer, ServesAThousandConnections) {
  Calls handler(describe);
  const auto server = serve(handler, {.threads = 2});
  std::vector<Client> clients;
  for (int i = 0; i < 1000; ++i) clients.emplace_back(server->port());
  for (int round = 0; round < 2; ++round) {
    for (Client& client : clients) client.send(Client::request("POST", "/", "x"));
    for (Client& client : clients) ASSERT_EQ(client.receive().body, "/? x");
  }
  EXPECT_EQ(server->connections(), 1000u);
}

TEST(HttpServer, AnswersFromManyThreads) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  Calls handler([&](const Request& request, const Respond& respond) {
    const std::lock_guard lock(mutex);
    threads.emplace_back([respond, text = std::string(request.body)] { reply(respond, text); });
  });
  const auto server = serve(handler, {.threads = 2});
  std::vector<Client> clients;
  for (int i = 0; i < 20; ++i) clients.emplace_back(server->port());
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < clients.size(); ++i) clients[i].send(Client::request("POST", "/", std::to_string(i)));
    for (std::size_t i = 0; i < clients.size(); ++i) ASSERT_EQ(clients[i].receive().body, std::to_string(i));
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(HttpServer, FinishesWhatHasBegunBeforeItStops) {
  Desk desk;
  Calls handler([&](const Request&, const Respond& respond) { desk.put(respond); });
  auto server = serve(handler, {.threads = 2});
  Client idle(server->port()), busy(server->port()), idle_too(server->port()), beside(server->port());
  busy.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Respond respond = desk.take();
  std::thread stopping([&] { server->stop(Duration::s(20)); });
  for (Client* client : {&idle, &idle_too, &beside}) EXPECT_TRUE(client->is_closed());  // both threads know
  reply(respond, "done");
  const Answered answer = busy.receive();
  EXPECT_EQ(answer.body, "done");
  EXPECT_TRUE(answer.has("Connection: close"));
  busy.close();
  stopping.join();
  EXPECT_EQ(server->connections(), 0u);
}

TEST(HttpServer, StopsAfterItsGraceWhateverHandlersDo) {
  Desk desk;
  Flag gone;
  Calls handler([&](const Request&, const Respond& respond) {
    respond->on_disconnect([&] { gone.raise(); });
    desk.put(respond);
  });
  auto server = serve(handler);
  Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Respond respond = desk.take();
  server->stop(Duration::ms(10));
  gone.wait();
  EXPECT_EQ(client.receive().status, 0);
  server.reset();
  reply(respond, "too late");  // harmless
}

TEST(HttpServer, SaysWhyItCannotListen) {
  Calls handler(describe);
  const auto server = serve(handler);
  const auto message = [&](std::string listen) {
    const auto other = HttpServer::start({.listen = std::move(listen)}, handler);
    return other ? "listens" : other.error().message;
  };
  EXPECT_EQ(message(server->address()), server->address() + " is in use: choose another with --listen");
  EXPECT_EQ(message("8000"), "cannot listen on '8000': expected HOST:PORT, for example 127.0.0.1:8000");
  EXPECT_EQ(message("127.0.0.1:99999"),
            "cannot listen on '127.0.0.1:99999': expected HOST:PORT, for example 127.0.0.1:8000");
  EXPECT_EQ(message("no.such.host.invalid:80"), "cannot listen on no.such.host.invalid:80: there is no such host");
}

}  // namespace
}  // namespace sluice::gateway
