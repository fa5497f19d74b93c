import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { rawExchange } from "../../test/raw-exchange.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const { pathname } = new URL((await beckon.createTrigger(agent.id)).url);
const { hostname, port } = new URL(beckon.url);

test("all headers within 16 KiB are read, however many they are", async () => {
  const many = "A: \r\n".repeat(1_100);
  const bytes = `GET /api/public/agents HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n${many}X-Api-Key: ${beckon.key}\r\n\r\n`;
  const { answers } = await rawExchange(beckon.url, Buffer.from(bytes));
  expect(answers.map(({ status }) => status)).toEqual([200]);
});

test.each([
  ["that is not HTTP", "Hello\r\n\r\n", 400, "bad_request"],
  ["of HTTP/2 with prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "bad_request"],
  [
    "without a Host",
    `POST ${pathname} HTTP/1.1\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx`,
    400,
    "bad_request",
  ],
  [
    "with an invalid Host",
    `POST ${pathname} HTTP/1.1\r\nHost: a b\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx`,
    400,
    "bad_request",
  ],
  [
    "with too long headers",
    `POST ${pathname} HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
    431,
    "too_large",
  ],
  [
    "with two lengths",
    `POST ${pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy`,
    400,
    "bad_request",
  ],
  [
    "with a broken chunk",
    `POST ${pathname} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nzz\r\n`,
    400,
    "bad_request",
  ],
  [
    "whose body has a transfer encoding",
    `POST ${pathname} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n1\r\nx\r\n0\r\n\r\n`,
    415,
    "unsupported_type",
  ],
  [
    "for a tunnel",
    "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
    405,
    "method_not_allowed",
  ],
])("a request %s gets an error in our format", async (_what, bytes, status, code) => {
  const { answers, rest } = await rawExchange(beckon.url, Buffer.from(bytes));
  expect(
    answers.map((answer) => [
      answer.status,
      answer.headers.get("content-type"),
      JSON.parse(answer.text),
    ]),
  ).toEqual([
    [status, "application/json", { ok: false, error: expect.stringMatching(/\.$/), code }],
  ]);
  expect(rest).toBe("");
});

const fired = `POST ${pathname} HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\n`;

test.each([
  ["a stray byte", `${fired}Zürich`],
  [
    "a request with a broken chunk",
    `${fired}London${fired.replace("Content-Length: 6", "Transfer-Encoding: chunked")}zz\r\n`,
  ],
  ["a CONNECT", `${fired}LondonCONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n`],
])("a complete request gets its response, and no other, if %s follows it", async (_what, bytes) => {
  const { answers, rest } = await rawExchange(beckon.url, Buffer.from(bytes));
  expect(answers.map(({ status, text }) => [status, JSON.parse(text)])).toEqual([
    [200, { ok: true, run_id: expect.any(String) }],
  ]);
  expect(rest).toBe("");
});

test("an unknown expectation is ignored", async () => {
  const bytes = Buffer.from(
    `POST ${pathname} HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx`,
  );
  const { answers } = await rawExchange(beckon.url, bytes);
  expect(answers.map(({ status }) => status)).toEqual([200]);
});

test("a client that resets its connection after CONNECT does not stop the server", async () => {
  const uncaught: Error[] = [];
  const note = (error: Error) => uncaught.push(error);
  process.on("uncaughtExceptionMonitor", note);
  onTestFinished(() => void process.off("uncaughtExceptionMonitor", note));
  for (let round = 0; round < 3; round++) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    await once(socket, "connect");
    const closed = once(socket, "close");
    socket.write("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", () =>
      socket.resetAndDestroy(),
    );
    await closed;
    expect((await beckon.call(`/agents/${agent.id}`)).status).toBe(200);
  }
  expect(uncaught).toEqual([]);
});

// Most clients read the response only after they have sent the whole request. If the server closed
// the connection while they send, they would lose the response.
test.each([
  ["401 without a credential", `/api/public/agents/${agent.id}/invoke`, 401],
  ["413 for the size", pathname, 413],
  ["404 for the path", "/nowhere", 404],
])(
  "a client that only reads after it has sent all of 16 MB gets its %s",
  async (_what, path, status) => {
    // @hono/node-server reads the rest of a rejected body for at most 500 ms. On a busy machine,
    // sending it takes longer.
    const { setTimeout } = globalThis;
    vi.stubGlobal("setTimeout", (call: () => void, ms?: number) =>
      setTimeout(call, ms === 500 ? 20_000 : ms),
    );
    for (let round = 0; round < 3; round++) {
      const received = await new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), hostname);
        socket.on("error", reject).pause();
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 16000000\r\n\r\n`,
        );
        socket.write(Buffer.alloc(16_000_000, "x"), () => {
          socket.resume().once("data", (chunk: Buffer) => {
            socket.destroy();
            resolve(chunk.toString());
          });
        });
      });
      expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    }
  },
);
