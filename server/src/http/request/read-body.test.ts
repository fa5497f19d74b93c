import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { readBody } from "./read-body.ts";

const chunks = 50_000;

/** Collects garbage, and returns how many of the objects are still in memory. */
async function countKept(objects: readonly WeakRef<object>[]): Promise<number> {
  // V8 keeps the target of a new WeakRef until the current task has ended.
  await new Promise((resolve) => setImmediate(resolve));
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  setFlagsFromString("--no-expose-gc");
  return objects.filter((each) => each.deref() !== undefined).length;
}

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
  const received: WeakRef<Buffer>[] = [];
  const arrived = Promise.withResolvers<void>();
  const body = Promise.withResolvers<Awaited<ReturnType<typeof readBody>>>();
  const server = createServer((incoming) => {
    body.resolve(readBody(incoming, anyHold));
    incoming.on("data", (chunk: Buffer) => {
      if (received.push(new WeakRef(chunk)) === chunks) arrived.resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.write("POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
  const sent = Array.from({ length: chunks }, (_, index) => String(index % 10));
  client.write(sent.map((each) => `1\r\n${each}\r\n`).join(""));
  await arrived.promise;
  expect(await countKept(received)).toBeLessThan(chunks / 10);
  client.write("0\r\n\r\n");
  const read = await body.promise;
  expect(read.ok && read.value.toString()).toBe(sent.join(""));
});
