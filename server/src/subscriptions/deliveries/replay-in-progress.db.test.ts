import type { ServerResponse } from "node:http";
import { afterAll, beforeEach, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { startReceiver } from "../../../test/receiver.ts";

/** Tests replays of a delivery while the second of its two attempts is in progress. */

const beckon = await startTestBeckon({ BECKON_RETRY_SCHEDULE: "0,0" });
const receiver = await startReceiver();
const other = await startReceiver();
afterAll(() => Promise.all([receiver.close(), other.close()]));
beforeEach(() => {
  receiver.received.length = 0;
  other.received.length = 0;
});

const subscribed = async (url: string, agentId: string) =>
  (
    await beckon.call("/subscriptions", {
      body: { url, event_types: ["run.finished"], agent_ids: [agentId] },
    })
  ).body.data;

/**
 * Replays a delivery whose first attempt has failed, and whose second one is in progress. Returns
 * the response of the second one after everything that is due was claimed.
 */
async function replayed() {
  const agent = await beckon.createAgent();
  const { id } = await subscribed(receiver.url, agent.id);
  const second = Promise.withResolvers<ServerResponse>();
  receiver.respond = (_request, response) => {
    if (receiver.received.length === 1) response.writeHead(500).end();
    else second.resolve(response);
  };
  await beckon.invoke(agent, "Hello");
  const response = await second.promise;
  const [delivery] = (await beckon.call(`/subscriptions/${id}/deliveries`)).body.data;
  const path = `/subscriptions/${id}/deliveries/${delivery.id}`;
  const { body } = await beckon.call(`${path}/replay`, { method: "POST" });
  expect(body.data).toMatchObject({ status: "pending", attempts: 0 });
  // When a later event arrives at another receiver, the sender has claimed what is due.
  const later = await beckon.createAgent();
  await subscribed(other.url, later.id);
  await beckon.invoke(later, "Hello");
  await other.awaitCount(1);
  const ended = () =>
    eventually("the end of the delivery", async () => {
      const { data } = (await beckon.call(path)).body;
      return data.status === "pending" ? undefined : data;
    });
  return { response, ended };
}

test("the attempt counts as the first one, and nothing more is sent if the receiver accepts it", async () => {
  const { response, ended } = await replayed();
  response.writeHead(204).end();
  expect(await ended()).toMatchObject({
    status: "succeeded",
    attempts: 1,
    attempts_log: [
      { number: 2, status: 204 },
      { number: 1, status: 500 },
    ],
  });
  expect(receiver.received).toHaveLength(2);
});

test("if the attempt fails, the delivery is sent again, although it was the last one", async () => {
  const { response, ended } = await replayed();
  receiver.respond = (_request, next) => next.writeHead(204).end();
  response.writeHead(500).end();
  expect(await ended()).toMatchObject({
    status: "succeeded",
    attempts: 2,
    attempts_log: [
      { number: 3, status: 204 },
      { number: 2, status: 500 },
      { number: 1, status: 500 },
    ],
  });
});
