import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { startProxy, statement } from "../../../test/proxy.ts";
import {
  createReceiving,
  github,
  type SettingsChange,
  signedAsGithub,
} from "../../../test/receiving-trigger.ts";

const beckon = await startTestBeckon();
const proxy = await startProxy(beckon.db.url);
/** A second process. It reaches the database through a proxy that simulates network faults. */
const far = await beckon.another({ settings: { DATABASE_URL: proxy.urlFor(beckon.db.url) } });
afterAll(async () => {
  await far.stop();
  await proxy.close();
});
const { engine } = beckon.db.database;

async function triggerOfBoth(change: SettingsChange = {}) {
  const { id: agentId } = await beckon.createAgent();
  const trigger = await createReceiving(beckon, agentId, change);
  const farUrl = trigger.url.replace(beckon.url, far.url);
  const send = (url: string, eventId: string) =>
    beckon.call(url, {
      credential: null,
      body: "{}",
      headers: {
        "content-type": "application/json",
        "x-github-delivery": eventId,
        ...signedAsGithub("{}"),
      },
    });
  return {
    trigger,
    near: (eventId: string) => send(trigger.url, eventId),
    far: (eventId: string) => send(farUrl, eventId),
    async runs(): Promise<string[]> {
      const { rows } = await engine.query<{ run_id: string }>(
        "select run_id from run_inputs where trigger_id = $1 order by run_id",
        [trigger.id],
      );
      return rows.map(({ run_id }) => run_id);
    },
  };
}

test("an event that arrives at two processes at once, several times, starts one run", async () => {
  const both = await triggerOfBoth();
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        index % 2 === 0 ? both.near(`${round}`) : both.far(`${round}`),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
  }
  expect(await both.runs()).toHaveLength(10);
});

test("of several processes one captures the sample", async () => {
  const both = await triggerOfBoth();
  await engine.query(
    "update triggers set listening_until = now() + interval '1 minute' where id = $1",
    [both.trigger.id],
  );
  const answers = await Promise.all(
    [1, 2, 3].flatMap((id) => [both.near(`${id}`), both.far(`${id}`)]),
  );
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
  expect(
    (await both.trigger.requests()).filter(({ outcome }) => outcome === "captured"),
  ).toHaveLength(1);
});

test("an event whose start got no reply gets 503, and its repeat gets the run that was written", async () => {
  const both = await triggerOfBoth();
  expect((await both.far("before")).status).toBe(200);
  proxy.changeWith(statement("start"), { type: "mute" });
  const lost = await both.far("lost");
  expect(lost).toMatchObject({ status: 503, body: { code: "unavailable" } });
  expect(Number(lost.headers.get("retry-after"))).toBeGreaterThan(0);
  const repeated = await both.near("lost");
  expect(repeated.status).toBe(200);
  proxy.weather = { type: "fair" };
  proxy.drop({ hard: true });
  const run = await eventually("the end of the run", async () => {
    const { data } = (await beckon.call(`/runs/${repeated.body.run_id}`)).body;
    return data.finished_at === null ? undefined : data;
  });
  expect(run).toMatchObject({ status: "succeeded" });
  expect(await both.runs()).toHaveLength(2);
  expect((await both.far("lost")).body).toEqual(repeated.body);
});

test("an event that was rejected with earlier settings starts a run although the reply to this was lost", async () => {
  const verification = { ...github.verification, header: "x-other" } as typeof github.verification;
  const both = await triggerOfBoth({ verification });
  const stalled = proxy.cutNext({ request: statement("record-requests"), pass: "stall" });
  const sent = both.far("corrected");
  await stalled;
  await both.trigger.set({ verification: github.verification });
  proxy.drop({ hard: true });
  const { status, body } = await sent;
  expect([status, body]).toEqual([200, { ok: true, run_id: expect.any(String) }]);
  expect((await both.trigger.requests()).map(({ outcome }) => outcome)).toEqual([
    "invalid_signature",
    "started",
  ]);
});
