import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { rejectWrites } from "../../test/reject-writes.ts";

const beckon = await startTestBeckon({ BECKON_LEASE_SECONDS: "2" });
const agent = await beckon.createAgent();

const readiness = async () =>
  (await beckon.call(`${beckon.url}/readyz`, { credential: null })).status;
const becomes = (status: number) =>
  eventually(`readiness ${status}`, async () => (await readiness()) === status || undefined);

test.each([
  ["the disk is full", "53100"],
  ["the server is read-only", "25006"],
  ["the disk fails", "58030"],
])(
  "while runs cannot be written because %s the process is not ready, and afterwards it is ready again",
  async (_, code) => {
    const writes = await rejectWrites(beckon, "insert on runs", code);
    expect(await readiness()).toBe(200);
    const start = beckon.invoke(agent, "Hello");
    await becomes(503);
    expectError(await start, 503, "unavailable");
    expect(await readiness()).toBe(503);
    await writes.accept();
    await becomes(200);
    expect((await beckon.invoke(agent, "Hello")).status).toBe(200);
  },
);

test("while the lease cannot be renewed the process is not ready, even without requests, and afterwards it is ready again", async () => {
  const writes = await rejectWrites(beckon, "update on processes", "53100");
  await becomes(503);
  await writes.accept();
  await becomes(200);
});
