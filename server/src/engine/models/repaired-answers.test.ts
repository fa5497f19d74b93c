import { expect, test } from "vitest";
import { repairEvents } from "./repaired-answers.ts";

/** Returns the bytes of an event stream that arrives in these chunks, after the repair. */
async function repairedStream(chunks: readonly Uint8Array[]): Promise<Buffer> {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const headers = { "content-type": "text/event-stream" };
  const fetch = repairEvents(async () => new Response(stream, { headers }));
  return Buffer.from(await (await fetch("http://model.test")).arrayBuffer());
}

const split = Buffer.from("界界");
const event = 'data:{"error":null,"choices":[]}';

test.each([
  ["in characters", split.subarray(0, 1), split.subarray(1, 4), split.subarray(4)],
  ["before a text like an event", Buffer.of(), Buffer.from("x"), Buffer.from(event)],
])("a line above 1 MiB that is split %s keeps its bytes", async (_where, first, middle, last) => {
  const start = Buffer.concat([Buffer.from("data: "), Buffer.alloc(1024 * 1024, "a"), first]);
  const end = Buffer.concat([last, Buffer.from(`\r\n\r\n${event}\n\n`)]);
  const stream = await repairedStream([start, middle, end]);
  const line = Buffer.concat([start, middle, last]);
  expect(stream.subarray(0, line.length).equals(line)).toBe(true);
  expect(stream.subarray(line.length).toString()).toBe('\r\n\r\ndata:{"choices":[]}\n\n');
});
