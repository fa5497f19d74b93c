import { getEventListeners } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { startOddServer } from "../../../test/odd-server.ts";
import { createLeanFetch } from "./lean-fetch.ts";

/**
 * A byte order mark, characters of two to four bytes, and invalid UTF-8: a byte that UTF-8 never
 * contains, truncated characters and a lone surrogate.
 */
const words = Buffer.concat([
  Buffer.from("\uFEFFgrüße \uFEFF 😀 "),
  Buffer.from([0xff, 0x20, 0xe2, 0x82, 0x20, 0xed, 0xa0, 0x80, 0xf0, 0x9f]),
]);

const server = await startOddServer({
  "/hints": (_request, response) => {
    response.writeEarlyHints({ link: "</a>; rel=preload" });
    response.end("after the hints");
  },
  "/without-last-chunk": (_request, response) => {
    response.writeHead(200).write("half");
    setImmediate(() => response.socket?.destroy());
  },
  "/words": (_request, response) => void response.writeHead(200).end(words),
  "/words-in-bytes": (_request, response) => {
    for (const byte of words) response.write(Buffer.from([byte]));
    response.end();
  },
  "/single-bytes": ({ socket }) => {
    socket.end(
      `HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(200_000)}0\r\n\r\n`,
    );
  },
});
const { root, started, abandoned } = server;
const unhurried = { connectTimeoutMs: 5_000, headersTimeoutMs: 5_000, bodyTimeoutMs: 5_000 };
const roomy = createLeanFetch(unhurried);
const narrow = createLeanFetch({ ...unhurried, maxResponseBytes: 2_000 });
// Each transport has only one short timeout. If it had two, the wrong one could end the call on a
// busy machine.
const hastyForHead = createLeanFetch({ ...unhurried, headersTimeoutMs: 60 });
const hastyForBody = createLeanFetch({ ...unhurried, bodyTimeoutMs: 60 });
const get = (path: string, signal?: AbortSignal, by = roomy) =>
  by.call(new URL(root + path), { method: "GET", headers: {}, signal });

afterAll(async () => {
  await Promise.all([roomy, narrow, hastyForHead, hastyForBody].map((each) => each.close()));
});

describe("a lean call", () => {
  it("sends the same as fetch, and returns status, headers and body", async () => {
    const headers = { "content-type": "text/plain", "x-key": "k" };
    for (const body of ["grüße", new TextEncoder().encode("grüße")]) {
      const response = await roomy.call(new URL(`${root}/echo?a=1`), {
        method: "POST",
        headers,
        body,
      });
      expect(response).toMatchObject({ status: 201, headers: { "x-many": "a, b" } });
      expect(JSON.parse(response.text)).toMatchObject({
        method: "POST",
        url: "/echo?a=1",
        body: "grüße",
      });

      const fetched = await roomy.fetch(`${root}/echo?a=1`, { method: "POST", headers, body });
      expect(JSON.parse(response.text)).toEqual(await fetched.json());
    }
  });

  it.each(["/words", "/words-in-bytes"])(
    "decodes UTF-8 like Response.text() (%s)",
    async (path) => {
      const { text } = await get(path);
      expect(text).toBe(await new Response(words).text());
      expect(text).toMatch(/^grüße \uFEFF 😀 \uFFFD /);
    },
  );

  it("returns the whole body of many chunks", async () => {
    const { text } = await get("/pieces");
    expect(text).toHaveLength(300_000);
    expect(text).toBe(Array.from({ length: 300 }, (_, n) => `${n} `.padEnd(1_000)).join(""));
    expect((await get("/single-bytes")).text).toBe("x".repeat(200_000));
  });

  it("returns 204 without a body and a redirect unchanged, and ignores 103", async () => {
    expect(await get("/no-body")).toMatchObject({ status: 204, text: "" });
    expect(await get("/redirect")).toMatchObject({
      status: 302,
      headers: { location: "/echo" },
      text: "moved",
    });
    expect(await get("/hints")).toMatchObject({ status: 200, text: "after the hints" });
  });

  it("reuses a connection", async () => {
    await get("/echo");
    const before = server.connections;
    for (let n = 0; n < 5; n += 1) await get("/echo");
    // undici makes a connection available for the next request a moment after the response has been
    // read. A call made before that opens a second connection, which later calls then use.
    expect(server.connections - before).toBeLessThanOrEqual(1);
  });

  it("rejects an encoded body", async () => {
    await expect(get("/gzip")).rejects.toMatchObject({ code: "BECKON_ENCODED_BODY" });
  });

  it.each(["/large", "/large-declared"])("aborts a body above its limit (%s)", async (path) => {
    await expect(get(path, undefined, narrow)).rejects.toMatchObject({
      code: "UND_ERR_RES_EXCEEDED_MAX_SIZE",
    });
    expect((await get(path)).text).toHaveLength(3_000);
  });

  it("times out when the head does not arrive or the body stops", async () => {
    await Promise.all([
      expect(get("/silent", undefined, hastyForHead)).rejects.toMatchObject({
        code: "UND_ERR_HEADERS_TIMEOUT",
      }),
      expect(get("/never-ending", undefined, hastyForBody)).rejects.toMatchObject({
        code: "UND_ERR_BODY_TIMEOUT",
      }),
    ]);
  });

  it.each(["/short", "/without-last-chunk"])(
    "never gives half a body for the whole (%s)",
    async (path) => {
      await expect(get(path)).rejects.toMatchObject({
        code: expect.stringMatching(/^(UND_ERR_SOCKET|ECONNRESET)$/),
      });
    },
  );

  it.each([new Error("enough"), "a word"])(
    "rejects with the signal's reason: before, while waiting, and in the body (%s)",
    async (reason) => {
      await expect(get("/echo", AbortSignal.abort(reason))).rejects.toBe(reason);

      const waiting = new AbortController();
      const head = get("/silent", waiting.signal);
      setTimeout(() => waiting.abort(reason), 20);
      await expect(head).rejects.toBe(reason);

      const path = `/never-ending?${reason}`;
      const reading = new AbortController();
      const body = get(path, reading.signal);
      await expect.poll(() => started.has(encodeURI(path))).toBe(true);
      reading.abort(reason);
      await expect(body).rejects.toBe(reason);
      await expect.poll(() => abandoned.has(encodeURI(path))).toBe(true);
    },
  );

  it("sends nothing for a signal that had aborted", async () => {
    const before = server.connections;
    const idle = createLeanFetch({
      connectTimeoutMs: 1_000,
      headersTimeoutMs: 1_000,
      bodyTimeoutMs: 1_000,
    });
    await expect(get("/echo", AbortSignal.abort(), idle)).rejects.toThrow();
    await idle.close();
    expect(server.connections).toBe(before);
  });

  it("removes its listener from the signal, however it ends", async () => {
    const { signal } = new AbortController();
    await get("/echo", signal);
    await expect(get("/short", signal)).rejects.toThrow();
    await expect(get("/gzip", signal)).rejects.toThrow();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("rejects on an abort while connecting, and if it cannot connect", async () => {
    const gone = createTcpServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => gone.once("listening", resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const call = { method: "GET", headers: {} };
    await expect(roomy.call(new URL(`http://127.0.0.1:${port}/`), call)).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });

    const controller = new AbortController();
    const reason = new Error("enough");
    const connecting = roomy.call(new URL("http://10.255.255.1/"), {
      ...call,
      signal: controller.signal,
    });
    controller.abort(reason);
    await expect(connecting).rejects.toBe(reason);
  });

  it("rejects when all connections are closed", async () => {
    const short = createLeanFetch({
      connectTimeoutMs: 1_000,
      headersTimeoutMs: 1_000,
      bodyTimeoutMs: 1_000,
    });
    const path = "/never-ending?closed";
    const call = get(path, undefined, short);
    const failed = expect(call).rejects.toMatchObject({ code: "UND_ERR_DESTROYED" });
    await expect.poll(() => started.has(path)).toBe(true);
    await short.close();
    await failed;
  });

  it("rejects an invalid header", async () => {
    const call = { method: "GET", headers: { "x-key": "k\r\nx-more: 1" } };
    await expect(roomy.call(new URL(`${root}/echo`), call)).rejects.toMatchObject({
      code: "UND_ERR_INVALID_ARG",
    });
  });
});
