import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { statementTimeouts } from "../../../test/executed-statements.ts";
import {
  inAllWorkspaces,
  inWorkspace,
  limitStatements,
  limitTime,
  outageOf,
} from "./in-workspace.ts";

const { database } = await testDatabase({ poolSize: 8 });
const { tenant } = database;

/** Begins transactions of a workspace that last until `end` is called or the test ends. */
function hold(workspaceId: string, count: number) {
  const ended = Promise.withResolvers<void>();
  let open = 0;
  const all = Array.from({ length: count }, () =>
    inWorkspace(tenant, workspaceId, async () => {
      open++;
      await ended.promise;
    }),
  );
  const results = Promise.allSettled(all);
  const end = () => {
    ended.resolve();
    return results;
  };
  onTestFinished(async () => void (await end()));
  return { end, open: () => open };
}

const waiting = () => database.pools.find(([name]) => name === "tenant")?.[1].waitingCount;

test("a workspace with many transactions leaves connections to others and to sign-ins", async () => {
  const busy = hold("wsp_busy", 50);
  await expect.poll(busy.open).toBe(3);
  expect(waiting()).toBe(47);
  await inWorkspace(tenant, "wsp_other", async () => {});
  await inAllWorkspaces(tenant, async () => {});
  await inWorkspace(
    limitStatements(tenant, () => undefined),
    "wsp_other",
    async () => {},
  );
  await busy.end();
  expect([busy.open(), waiting()]).toEqual([50, 0]);
});

test("workspaces take turns if all connections are used", async () => {
  const [first, second] = [hold("wsp_1", 30), hold("wsp_2", 30)];
  await expect.poll(() => first.open() + second.open()).toBe(4);
  const other = inWorkspace(tenant, "wsp_other", async () => [first.open(), second.open()]);
  const all = [first.end(), second.end()];
  // Of those that wait, two of others at most are before it, at each of the connections.
  const [ofFirst = 0, ofSecond = 0] = await other;
  expect(ofFirst + ofSecond).toBeLessThan(20);
  await Promise.all(all);
});

test("a transaction that waits too long for its turn gets an error that says so", async () => {
  const busy = hold("wsp_busy", 3);
  await expect.poll(busy.open).toBe(3);
  const waits = inWorkspace(tenant, "wsp_busy", async () => {});
  const rejected = expect(waits).rejects.toMatchObject({
    code: "unavailable",
    retryAfter: 2,
    message: expect.stringMatching(/^Too many requests of this workspace are in progress/),
  });
  await inWorkspace(tenant, "wsp_other", async () => {});
  await rejected;
  // An error with a cause is logged as an outage of the database.
  expect(await waits.catch((thrown) => thrown.cause)).toBeUndefined();
  await busy.end();
  await inWorkspace(tenant, "wsp_busy", async () => {});
});

test("if no transaction ends meanwhile, the error says that the database cannot be reached", async () => {
  const busy = hold("wsp_busy", 3);
  await expect.poll(busy.open).toBe(3);
  const waits = inWorkspace(tenant, "wsp_busy", async () => {});
  await expect(waits).rejects.toThrow("The database cannot be reached at the moment.");
  await expect(waits.catch(outageOf)).resolves.toBeInstanceOf(Error);
  expect(waiting()).toBe(0);
});

test.each([
  { timeoutMs: undefined, expected: [3_000] },
  { timeoutMs: 4_500, expected: [4_500, 3_000] },
  { timeoutMs: 2_750, expected: [2_750, 2_000] },
  { timeoutMs: 500, expected: [500, 1] },
])("a limit of 3 s ends before the request's deadline: %j", async ({ timeoutMs, expected }) => {
  const limited = limitStatements(tenant, () => timeoutMs);
  const set = await statementTimeouts(() =>
    // The commit can take longer than 1 ms.
    inWorkspace(limited, "wsp_1", (tx) => limitTime(tx, 3_000)).catch(() => {}),
  );
  expect(set).toEqual(expected);
});
