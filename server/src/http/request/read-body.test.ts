import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { queryObjects } from "node:v8";
import { expect, onTestFinished, test } from "vitest";
import { readBody } from "./read-body.ts";

const chunks = 50_000;

/** Returns the number of buffers in memory. */
const countBuffers = () => queryObjects(Uint8Array, { format: "count" });

test("a body in chunks of one byte is kept in few buffers, and is complete", async () => {
  const arrived = Promise.withResolvers<void>();
  const body = Promise.withResolvers<Awaited<ReturnType<typeof readBody>>>();
  const server = createServer((incoming) => {
    body.resolve(readBody(incoming, () => ({ grow: () => true, maxBytes: 10 ** 9 })));
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
  for (const each of sent) client.write(`1\r\n${each}\r\n`);
  await arrived.promise;
  expect(countBuffers() - before).toBeLessThan(10_000);
  client.write("0\r\n\r\n");
  const read = await body.promise;
  expect(read.ok && read.value.toString()).toBe(sent.join(""));
});
