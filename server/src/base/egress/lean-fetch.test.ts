import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { startOddServer } from "../../../test/odd-server.ts";
import { createLeanFetch } from "./lean-fetch.ts";

const server = await startOddServer();
const { root, abandoned } = server;
const unhurried = { connectTimeoutMs: 5_000, headersTimeoutMs: 5_000, bodyTimeoutMs: 5_000 };
const roomy = createLeanFetch(unhurried);
const narrow = createLeanFetch({ ...unhurried, maxResponseBytes: 2_000 });
// `hastyForHead` and `hastyForBody` have one short timeout each. With two, the wrong one could end
// the call on a busy machine.
const hastyForHead = createLeanFetch({ ...unhurried, headersTimeoutMs: 60 });
const hastyForBody = createLeanFetch({ ...unhurried, bodyTimeoutMs: 60 });

afterAll(async () => {
  await Promise.all([roomy, narrow, hastyForHead, hastyForBody].map((each) => each.close()));
});

describe("lean fetch", () => {
  it("sends the request with encoding identity, and returns status, headers and body", async () => {
    const response = await roomy.fetch(`${root}/echo?a=1`, {
      method: "POST",
      headers: { "Content-Type": "text/plain", "X-Key": "k" },
      body: "grüße",
    });
    const sent = (await response.json()) as { headers: Record<string, string> };
    expect(response).toMatchObject({ status: 201, ok: true });
    expect(response.headers.get("x-many")).toBe("a, b");
    expect(sent).toMatchObject({ method: "POST", url: "/echo?a=1", body: "grüße" });
    expect(sent.headers).toMatchObject({
      "content-type": "text/plain",
      "x-key": "k",
      "accept-encoding": "identity",
      "content-length": "7",
    });
  });

  it("sends one accept and one accept-encoding, however the given headers are written", async () => {
    const { text } = await roomy.callForBeginning(
      new URL(`${root}/echo`),
      { method: "GET", headers: { Accept: "application/json", "Accept-Encoding": "gzip" } },
      { maxReadBytes: 10_000, maxKeptBytes: 10_000 },
    );
    expect(JSON.parse(text).headers).toMatchObject({
      accept: "application/json",
      "accept-encoding": "identity",
    });
  });

  it("accepts headers in every form, and bytes", async () => {
    for (const headers of [
      new Headers({ "x-key": "k" }),
      [["x-key", "k"]] as [string, string][],
      { "x-key": "k" },
    ]) {
      const response = await roomy.fetch(new URL(`${root}/echo`), {
        method: "POST",
        headers,
        body: new TextEncoder().encode("bytes"),
      });
      expect(await response.json()).toMatchObject({ headers: { "x-key": "k" }, body: "bytes" });
    }
  });

  it("rejects bodies that it cannot send", async () => {
    await expect(roomy.fetch(new Request(`${root}/echo`))).rejects.toThrow(TypeError);
    await expect(
      roomy.fetch(`${root}/echo`, { method: "POST", body: new FormData() }),
    ).rejects.toThrow(TypeError);
    await expect(roomy.fetch("nonsense")).rejects.toThrow(TypeError);
  });

  it("returns 204 without a body and a redirect unchanged", async () => {
    expect((await roomy.fetch(`${root}/no-body`)).body).toBeNull();
    expect(await roomy.fetch(`${root}/redirect`)).toMatchObject({ status: 302, redirected: false });
  });

  it("returns a response whose reason phrase is not ASCII, as localized servers send it", async () => {
    const localized = createTcpServer((socket) =>
      socket.end(
        Buffer.from("HTTP/1.1 404 Non trouvé\r\nconnection: close\r\n\r\nabsent", "latin1"),
      ),
    );
    await new Promise<void>((resolve) => localized.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void localized.close());
    const { port } = localized.address() as AddressInfo;
    const response = await roomy.fetch(`http://127.0.0.1:${port}`);
    expect([response.status, await response.text()]).toEqual([404, "absent"]);
  });

  it("returns a response whose status is above 599", async () => {
    const odd = createTcpServer((socket) =>
      socket.end("HTTP/1.1 999 Request denied\r\nconnection: close\r\n\r\ndenied"),
    );
    await new Promise<void>((resolve) => odd.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void odd.close());
    const { port } = odd.address() as AddressInfo;
    const response = await roomy.fetch(`http://127.0.0.1:${port}`);
    expect(response).toMatchObject({ status: 999, ok: false, statusText: "Request denied" });
    expect(await response.text()).toBe("denied");
  });

  it("reuses a connection", async () => {
    await (await roomy.fetch(`${root}/echo`)).text();
    const before = server.connections;
    for (let n = 0; n < 5; n += 1) await (await roomy.fetch(`${root}/echo`)).text();
    // undici makes a connection available for the next request a moment after the response has been
    // read. A call made before that opens a second connection, which later calls then use.
    expect(server.connections - before).toBeLessThanOrEqual(1);
  });

  it("rejects an encoded body", async () => {
    await expect(roomy.fetch(`${root}/gzip`)).rejects.toMatchObject({
      code: "BECKON_ENCODED_BODY",
    });
  });

  it.each(["/large", "/large-declared"])("aborts a body above its limit (%s)", async (path) => {
    const reading = narrow.fetch(root + path).then((response) => response.text());
    await expect(reading).rejects.toMatchObject({ code: "UND_ERR_RES_EXCEEDED_MAX_SIZE" });
  });

  it("times out when the head does not arrive or the body stops", async () => {
    await expect(hastyForHead.fetch(`${root}/silent`)).rejects.toMatchObject({
      code: "UND_ERR_HEADERS_TIMEOUT",
    });
    const response = await hastyForBody.fetch(`${root}/never-ending`);
    await expect(response.text()).rejects.toMatchObject({ code: "UND_ERR_BODY_TIMEOUT" });
  });

  it("rejects reading a body that is shorter than its Content-Length", async () => {
    const response = await roomy.fetch(`${root}/short`);
    await expect(response.text()).rejects.toMatchObject({ code: "UND_ERR_SOCKET" });
  });

  it("delivers a large body completely to a slow reader", async () => {
    const response = await roomy.fetch(`${root}/pieces`);
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(text).toHaveLength(300_000);
    expect(text.endsWith("299 ".padEnd(1_000))).toBe(true);
  });

  it("rejects with the signal's reason before the call, before the head and in the body", async () => {
    const reason = new Error("enough");
    await expect(roomy.fetch(`${root}/echo`, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );

    const waiting = new AbortController();
    const head = roomy.fetch(`${root}/silent`, { signal: waiting.signal });
    setTimeout(() => waiting.abort(reason), 20);
    await expect(head).rejects.toBe(reason);

    const reading = new AbortController();
    const response = await roomy.fetch(`${root}/never-ending`, { signal: reading.signal });
    setTimeout(() => reading.abort(reason), 20);
    await expect(response.text()).rejects.toBe(reason);
  });

  it("closes the connection when the reader cancels or the signal aborts", async () => {
    const left = await roomy.fetch(`${root}/never-ending?left`);
    const controller = new AbortController();
    await roomy.fetch(`${root}/never-ending?aborted`, { signal: controller.signal });

    await left.body?.cancel();
    await expect.poll(() => abandoned.has("/never-ending?left")).toBe(true);
    expect(abandoned.has("/never-ending?aborted")).toBe(false);
    controller.abort(new Error("enough"));
    await expect.poll(() => abandoned.has("/never-ending?aborted")).toBe(true);
  });

  it("rejects on an abort while connecting, and if it cannot connect", async () => {
    const gone = createTcpServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => gone.once("listening", resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    await expect(roomy.fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });

    const controller = new AbortController();
    const reason = new Error("enough");
    const connecting = roomy.fetch("http://10.255.255.1/", { signal: controller.signal });
    controller.abort(reason);
    await expect(connecting).rejects.toBe(reason);
  });
});
