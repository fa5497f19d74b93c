import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { queryObjects } from "node:v8";
import { expect, onTestFinished, test } from "vitest";
import { readBody } from "./read-body.ts";

const chunks = 50_000;

/** Returns the number of buffers in memory. */
const countBuffers = () => queryObjects(Uint8Array, { format: "count" });

/**
 * Sends a request, and disconnects when the server has received its headers. Returns the request
 * after it is closed. Nothing of its body has been read by then.
 * @param body complete or incomplete, in the chunked transfer coding
 */
async function disconnected(body: string): Promise<IncomingMessage> {
  const closed = Promise.withResolvers<IncomingMessage>();
  const server = createServer((incoming) => {
    incoming.once("close", () => closed.resolve(incoming));
    client.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    server.close();
  });
  client.write(`POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${body}`);
  return closed.promise;
}
const anyHold = () => ({ grow: () => true, maxBytes: 10 ** 9 });

test("a body that was complete before its client disconnected is read", async () => {
  const read = await readBody(await disconnected("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), anyHold);
  expect(read.ok && read.value.toString()).toBe("abcde");
  const empty = await readBody(await disconnected("0\r\n\r\n"), anyHold);
  expect(empty.ok && empty.value.length).toBe(0);
});

test("a body that was complete before its client disconnected is limited like any other", async () => {
  const read = await readBody(await disconnected("3\r\nabc\r\n0\r\n\r\n"), anyHold, 2);
  expect(!read.ok && read.error.code).toBe("too_large");
});

test("a body that was not complete when its client disconnected is rejected", async () => {
  const read = readBody(await disconnected("3\r\nabc\r\n"), anyHold);
  await expect(read).rejects.toThrow("The request ended before its body was complete.");
});

test("a body in chunks of one byte is kept in few buffers, and is complete", async () => {
  const arrived = Promise.withResolvers<void>();
  const body = Promise.withResolvers<Awaited<ReturnType<typeof readBody>>>();
  const server = createServer((incoming) => {
    body.resolve(readBody(incoming, anyHold));
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes === chunks) arrived.resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const before = countBuffers();
  client.write("POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
  const sent = Array.from({ length: chunks }, (_, index) => String(index % 10));
  client.write(sent.map((each) => `1\r\n${each}\r\n`).join(""));
  await arrived.promise;
  expect(countBuffers() - before).toBeLessThan(10_000);
  client.write("0\r\n\r\n");
  const read = await body.promise;
  expect(read.ok && read.value.toString()).toBe(sent.join(""));
});
