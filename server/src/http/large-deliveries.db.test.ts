import type { ServerResponse } from "node:http";
import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { startReceiver } from "../../test/receiver.ts";
import { subscribe } from "../../test/subscribe.ts";

/**
 * With this memory budget, the large deliveries of one workspace can use 4.5 MiB of memory at a
 * time. Each byte of their data counts as 6 bytes.
 */
const beckon = await startTestBeckon({ BECKON_MEMORY_BUDGET_MIB: "96" });
const maxAtOnce = 4.5 * 1024 * 1024;
const receiver = await startReceiver();
afterAll(() => receiver.close());

const subscribed = (path: string, type: string) =>
  subscribe(beckon.db.database.engine, beckon.config.masterKey, {
    url: `${receiver.origin}/${path}`,
    eventTypes: [type],
  });

test("large deliveries are sent as far as there is memory, small ones at once, and later all", async () => {
  const output = "x".repeat(60_000);
  const held: ServerResponse[] = [];
  receiver.respond = ({ path }, response) => {
    if (path === "/small") response.writeHead(204).end();
    else held.push(response);
  };
  const agent = await beckon.createAgent();
  for (const path of ["one", "two", "three"]) await subscribed(path, "run.finished");
  await Promise.all(Array.from({ length: 10 }, () => beckon.invoke(agent, output)));
  await eventually("the first large deliveries", () => held.length > 0 || undefined);
  await subscribed("small", "run.started");
  await beckon.invoke(agent, "Hello");
  await receiver.awaitCount(1, ({ path }) => path === "/small");
  expect(held.length).toBeLessThanOrEqual(maxAtOnce / (6 * output.length));

  receiver.respond = (_request, response) => response.writeHead(204).end();
  for (const response of held) response.writeHead(204).end();
  await eventually("all large deliveries", () => {
    const large = receiver.received.filter(({ body }) => body.data.payload.output === output);
    return new Set(large.map(({ id, path }) => `${path} ${id}`)).size === 30 || undefined;
  });
});
