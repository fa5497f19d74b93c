import { expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { startHeldModel } from "../../../test/held-model.ts";

const beckon = await startTestBeckon();

const runOf = async (runId: string) => (await beckon.call(`/runs/${runId}`)).body.data;

test("fire answers with the run's id, and nothing else", async () => {
  const { url } = await beckon.createTrigger((await beckon.createAgent()).id);
  const { status, body, headers } = await beckon.call(url, { credential: null, body: "Hello" });
  expect(status).toBe(200);
  expect(body).toEqual({ ok: true, run_id: expect.stringMatching(/^run_[0-9a-z]{26}$/) });
  expect(headers.get("content-type")).toBe("application/json");
});

test("the url of a trigger is its token below the public address", async () => {
  const { url, token } = await beckon.createTrigger((await beckon.createAgent()).id);
  expect(url).toBe(`${beckon.url}/api/public/triggers/${token}`);
});

test("fire answers while the model has not", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const { url } = await beckon.createTrigger(agent.id);
  const { body } = await beckon.call(url, { credential: null, body: "Hello" });
  expect(await runOf(body.run_id)).toMatchObject({
    status: expect.stringMatching(/^(queued|running)$/),
    finished_at: null,
  });
});

test("a fired run is executed and on record with its trigger", async () => {
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id);
  const { body } = await beckon.call(trigger.url, { credential: null, body: "Hello" });
  const run = await eventually("the end of the run", async () => {
    const found = await runOf(body.run_id);
    return found.finished_at === null ? undefined : found;
  });
  expect(run).toMatchObject({
    agent_id: agent.id,
    source: "trigger",
    trigger_id: trigger.id,
    status: "succeeded",
    output: "Hello",
  });
});

test.each([
  ["the prefix, a blank line and the payload", "Summarise:", "the mail", "Summarise:\n\nthe mail"],
  ["the payload alone without a prefix", "", "the mail", "the mail"],
  ["the prefix alone without a payload", "Do your daily work.", "", "Do your daily work."],
  [
    "prefix and payload with the line breaks they came with",
    "Summarise:\n",
    "\nthe mail\n",
    "Summarise:\n\n\n\nthe mail\n",
  ],
])("the input of a fired run is %s", async (_, prefix, payload, input) => {
  const { url } = await beckon.createTrigger((await beckon.createAgent()).id, {
    prompt_prefix: prefix,
  });
  const { status, body } = await beckon.call(url, {
    method: "POST",
    credential: null,
    body: Buffer.from(payload),
  });
  expect(status).toBe(200);
  expect(await runOf(body.run_id)).toMatchObject({ input });
});

test("fire needs no credential beside its URL, and minds none", async () => {
  const { url } = await beckon.createTrigger((await beckon.createAgent()).id);
  const { status } = await beckon.call(url, { credential: "bka_junk", body: "Hello" });
  expect(status).toBe(200);
});

test("a changed prefix holds from the next fire on", async () => {
  const agent = await beckon.createAgent();
  const { id, url } = await beckon.createTrigger(agent.id, { prompt_prefix: "Old" });
  await beckon.call(url, { credential: null, body: "first" });
  await beckon.call(`/agents/${agent.id}/triggers/${id}`, {
    method: "PATCH",
    body: { prompt_prefix: "New" },
  });
  const { body } = await beckon.call(url, { credential: null, body: "second" });
  expect(await runOf(body.run_id)).toMatchObject({ input: "New\n\nsecond" });
});
