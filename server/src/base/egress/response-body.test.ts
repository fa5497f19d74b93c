import { describe, expect, it } from "vitest";
import { ResponseBody } from "./response-body.ts";

const source = { abort: () => undefined, pause: () => undefined, resume: () => undefined };
const bytes = 100_000;

/** Adds a body that arrives byte by byte, and returns the chunks that its reader gets. */
async function chunksOf(options: { lines: boolean }): Promise<Uint8Array[]> {
  const body = new ResponseBody(source, options);
  const chunks: Uint8Array[] = [];
  const reading = (async () => {
    for await (const chunk of body.stream) chunks.push(chunk);
  })();
  for (let sent = 0; sent < bytes; sent++) {
    body.add(new Uint8Array([97 + (sent % 26)]));
    if (sent % 100 === 0) await Promise.resolve();
  }
  body.end();
  await reading;
  return chunks;
}

describe("a body that arrives byte by byte", () => {
  it("is passed on in blocks, because its reader keeps the chunks", async () => {
    const chunks = await chunksOf({ lines: false });
    expect(chunks.length).toBeLessThan(10);
    const whole = Buffer.concat(chunks).toString();
    expect(whole).toBe("abcdefghijklmnopqrstuvwxyz".repeat(4_000).slice(0, bytes));
  });

  it("is passed on as it arrives if it is an event stream", async () => {
    const chunks = await chunksOf({ lines: true });
    expect(chunks.length).toBeGreaterThan(100);
    expect(Buffer.concat(chunks).length).toBe(bytes);
  });
});
