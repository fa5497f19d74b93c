import { afterAll, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { statesOf } from "../../test/runs-of.ts";

/**
 * Two processes that both serve requests and execute runs. Once one of them has confirmed that a
 * token is revoked or rotated, a trigger disabled or an agent paused, both reject new runs.
 */
const beckon = await startTestBeckon({ BECKON_TRUST_PROXY: "1" });
const other = await beckon.another();
afterAll(() => other.stop());

/**
 * Returns a header with another address for each request. On a busy machine so many requests are
 * rejected that those of one address would be rate limited.
 */
const from = (index: number) => ({ "x-forwarded-for": `10.0.${index >> 8}.${index & 255}` });

interface Sent {
  readonly at: number;
  readonly status: number;
  readonly code: string | undefined;
}

/**
 * Sends requests, `perSecond` of them or as fast as possible, until `stop` is called. Records when
 * each request was sent, and its response.
 */
function sendOn(
  send: (index: number) => Promise<Answer>,
  { perSecond, atOnce = 1 }: { perSecond?: number; atOnce?: number },
) {
  const sent: Promise<Sent>[] = [];
  let responses = 0;
  let sending = true;
  const one = () => {
    const at = performance.now();
    const answered = send(sent.length).then(({ status, body }): Sent => {
      responses++;
      return { at, status, code: body.code };
    });
    sent.push(answered);
    return answered;
  };
  const work = async () => {
    const began = performance.now();
    for (let index = 0; sending; index++) {
      if (perSecond === undefined) await one();
      else {
        one().catch(() => {});
        // On a busy machine responses take longer. Of too many open requests some would get 503.
        await until(() => sent.length - responses < 50);
        await new Promise((resolve) =>
          setTimeout(
            resolve,
            Math.max(0, began + ((index + 1) * 1_000) / perSecond - performance.now()),
          ),
        );
      }
    }
  };
  const working = Promise.all(Array.from({ length: atOnce }, work));
  return {
    count: () => sent.length,
    responses: () => responses,
    stop: async () => {
      sending = false;
      await working;
      return Promise.all(sent);
    },
  };
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Returns the requests that were sent after `answeredAt` and were accepted nevertheless. */
const acceptedAfter = (sent: readonly Sent[], answeredAt: number) =>
  sent.filter(({ at, status }) => at > answeredAt && status < 300);

test("of 100 requests a second at another process none is accepted that was sent after a revocation was acknowledged", async ({
  annotate,
}) => {
  const agent = await beckon.createAgent();
  const path = `${other.url}/api/public/agents/${agent.id}/invoke`;
  const requests = sendOn(
    (index) =>
      beckon.call(path, {
        credential: agent.token,
        body: { input: "Hello" },
        headers: from(index),
      }),
    { perSecond: 100 },
  );
  // Waits for 100 responses, so that at least 100 requests are accepted. It is not enough to wait
  // until 100 requests are sent: a busy machine can handle, and reject, many of them only after the
  // revocation.
  await until(() => requests.responses() >= 100);
  expect((await beckon.call(`/agents/${agent.id}/token`, { method: "DELETE" })).status).toBe(204);
  const answeredAt = performance.now();
  const then = requests.count();
  await until(() => requests.count() >= then + 100);
  const sent = await requests.stop();

  expect(acceptedAfter(sent, answeredAt)).toEqual([]);
  const accepted = sent.filter(({ status }) => status === 200).length;
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200, 401]));
  expect(accepted).toBeGreaterThanOrEqual(100);
  expect(await statesOf(beckon, agent.id)).toEqual({ succeeded: accepted });
  await annotate(
    `${sent.length} requests, ${accepted} accepted, ${sent.filter(({ at }) => at > answeredAt).length} sent after the answer`,
  );
});

test.each([
  [
    "rotated",
    (path: string) => beckon.call(`${path}/rotate`, { method: "POST" }),
    401,
    "unauthorized",
  ],
  [
    "disabled",
    (path: string) => beckon.call(path, { method: "PATCH", body: { enabled: false } }),
    409,
    "trigger_disabled",
  ],
] as const)(
  "nor is a fire that was sent after its trigger was %s",
  async (_what, end, status, code) => {
    const agent = await beckon.createAgent();
    const { id, token } = await beckon.createTrigger(agent.id);
    const fire = (index: number) =>
      beckon.call(`${other.url}/api/public/triggers/${token}`, {
        credential: null,
        body: "Hello",
        headers: from(index),
      });
    const requests = sendOn(fire, { perSecond: 100 });
    await until(() => requests.count() >= 50);
    expect((await end(`/agents/${agent.id}/triggers/${id}`)).status).toBe(200);
    const answeredAt = performance.now();
    const then = requests.count();
    await until(() => requests.count() >= then + 50);
    const sent = await requests.stop();
    const accepted = sent.filter((each) => each.status === 200);
    expect(acceptedAfter(sent, answeredAt)).toEqual([]);
    expect(
      sent.filter((each) => each.status !== 200).map((each) => `${each.status} ${each.code}`),
    ).toEqual(Array(sent.length - accepted.length).fill(`${status} ${code}`));
    expect(
      Object.values(await statesOf(beckon, agent.id)).reduce((sum, runs) => sum + runs, 0),
    ).toBe(accepted.length);
  },
);

test("of 1,000 starts at two processes none is accepted that was sent after a pause was acknowledged", async ({
  annotate,
}) => {
  const agent = await beckon.createAgent();
  const { token } = await beckon.createTrigger(agent.id);
  const urls = [beckon.url, other.url];
  const start = (index: number) => {
    const url = `${urls[index % 2]}/api/public`;
    return index % 4 < 2
      ? beckon.call(`${url}/triggers/${token}`, { credential: null, body: "Hello" })
      : beckon.call(`${url}/agents/${agent.id}/invoke`, {
          credential: agent.token,
          body: { input: "Hello" },
          headers: { prefer: "respond-async" },
        });
  };
  const requests = sendOn(start, { atOnce: 40 });
  await until(() => requests.count() >= 500);
  expect(
    (await beckon.call(`${other.url}/api/public/agents/${agent.id}/pause`, { method: "POST" }))
      .status,
  ).toBe(200);
  const answeredAt = performance.now();
  const then = requests.count();
  await until(() => requests.count() >= Math.max(1_000, then + 300));
  const sent = await requests.stop();

  const accepted = sent.filter(({ status }) => status < 300);
  expect(acceptedAfter(sent, answeredAt)).toEqual([]);
  expect(
    new Set(
      sent.filter(({ status }) => status >= 300).map(({ status, code }) => `${status} ${code}`),
    ),
  ).toEqual(new Set(["409 agent_paused"]));
  expect(Object.values(await statesOf(beckon, agent.id)).reduce((sum, runs) => sum + runs, 0)).toBe(
    accepted.length,
  );
  await annotate(
    `${sent.length} starts, ${accepted.length} accepted, ${sent.filter(({ at }) => at > answeredAt).length} sent after the answer`,
  );
});
