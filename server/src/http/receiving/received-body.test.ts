import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { ByteBudget } from "../../base/byte-budget.ts";
import { ReceivedBody } from "./received-body.ts";

const mebibyte = 1_048_576;

const budget = () => new ByteBudget({ maxBytes: 100 * mebibyte });

/** Returns the body of a request that arrives completely. */
function bodyOf(
  bytes: number,
  { memory = { exchanges: budget(), bodies: budget() }, headers = {} } = {},
): ReceivedBody {
  const incoming = new IncomingMessage(new Socket());
  incoming.headers = headers;
  incoming.push(Buffer.alloc(bytes));
  incoming.push(null);
  return new ReceivedBody(incoming, memory, "wsp_1");
}

test("a body that was read with a higher limit is too large for a trigger without settings", async () => {
  const body = bodyOf(2 * mebibyte);
  expect(await body.read(25 * mebibyte)).toMatchObject({ ok: true });
  expect(await body.readDefault()).toMatchObject({ ok: false, error: { code: "too_large" } });
  body.release();
});

test("a body that was cut off at a lower limit must be sent again", async () => {
  const body = bodyOf(2_000);
  expect(await body.read(1_024)).toMatchObject({ ok: false, error: { code: "too_large" } });
  await expect(body.readDefault()).rejects.toMatchObject({ code: "unavailable" });
  await expect(body.read(4_096)).rejects.toMatchObject({ code: "unavailable" });
  body.release();
});

test("a body that was rejected for its Content-Length is read when the limit is higher", async () => {
  const bytes = 2 * mebibyte;
  const body = bodyOf(bytes, { headers: { "content-length": String(bytes) } });
  const tooLarge = { ok: false, error: { code: "too_large" }, size: bytes };
  expect(await body.readDefault()).toMatchObject(tooLarge);
  expect(await body.read(bytes - 1)).toMatchObject(tooLarge);
  expect(await body.read(25 * mebibyte)).toMatchObject({ ok: true, value: { length: bytes } });
  expect(await body.readDefault()).toMatchObject(tooLarge);
  body.release();
});

test("inflated bytes count six times, also if the body was read before its trigger had settings", async () => {
  const memory = { exchanges: budget(), bodies: budget() };
  const body = bodyOf(20_000, { memory });
  await body.readDefault();
  expect(body.growInflated(mebibyte)).toBe(true);
  expect([memory.exchanges.usedBytes, memory.bodies.usedBytes]).toEqual([
    6 * (20_000 + mebibyte),
    mebibyte,
  ]);
  body.release();
  expect([memory.exchanges.usedBytes, memory.bodies.usedBytes]).toEqual([0, 0]);
});
