import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { median } from "../../test/busy-model.ts";
import { eventually } from "../../test/eventually.ts";
import { type Behaviour, echo, startModelServer, status } from "../../test/model-server.ts";
import { allSucceeded } from "../../test/runs-of.ts";
import { insertStranger } from "../../test/workspace-key.ts";

const upstream = await startModelServer();
afterAll(() => upstream.close());
const beckon = await startTestBeckon({
  OPENAI_API_KEY: "operator-0123456789",
  OPENAI_BASE_URL: upstream.url,
  BECKON_SHARE_PROVIDERS: "1",
});

/** Responds with 503 for these models, and with an echo for all others. */
const down =
  (...models: readonly string[]): Behaviour =>
  (request, index) =>
    (models.includes(request.body.model) ? status(503) : echo())(request, index);

const callsOf = (model: string) =>
  upstream.requests.filter(({ body }) => body.model === model).length;

/** Creates an agent of the credential's workspace, and a function that fires runs of it. */
async function agentOf(credential: string, model: string) {
  const created = async (path: string, body: object) =>
    (await beckon.call(path, { credential, body })).body.data;
  const agent = await created("/agents", { name: "Test", model: `openai-chat/${model}` });
  const trigger = await created(`/agents/${agent.id}/triggers`, { name: "Test" });
  const fire = async (runs: number) => {
    const fired = Array.from({ length: runs }, () =>
      beckon.call(trigger.url, { credential: null, body: "Hello" }),
    );
    expect((await Promise.all(fired)).every((answer) => answer.status === 200)).toBe(true);
  };
  return { agent, fire };
}

test("a failing model of a shared provider delays no other workspace", async () => {
  const runs = 20;
  const [attacker, victim] = [
    await agentOf(beckon.key, "bad"),
    await agentOf(await insertStranger(beckon), "good"),
  ];

  upstream.script(down("bad"));
  await attacker.fire(runs);
  await eventually("enough calls to open the circuit", () => callsOf("bad") >= 3 || undefined);
  const times: number[] = [];
  for (let round = 0; round < 20; round++) {
    const began = performance.now();
    expect((await beckon.invoke(victim.agent, "Hello")).body).toMatchObject({
      ok: true,
      output: "Hello",
    });
    times.push(performance.now() - began);
  }
  // The median is checked, because single calls can be slow on a busy machine.
  expect(median(times)).toBeLessThan(2_000);
  expect(callsOf("good")).toBe(20);
  // Each run can call the model once before the model's circuit breaker opens. After that, only the
  // probes of the circuit breaker call it.
  expect(callsOf("bad")).toBeLessThan(runs * 2);

  upstream.script(down());
  await allSucceeded(beckon, attacker.agent.id, runs);

  upstream.reset();
  upstream.script(down("bad", "good"));
  await Promise.all([attacker.fire(runs), victim.fire(runs)]);
  await eventually(
    "enough calls to open both circuits",
    () => (callsOf("bad") >= 3 && callsOf("good") >= 3) || undefined,
  );
  expect(upstream.requests.length).toBeLessThan(runs * 4);
  upstream.script(down());
  await Promise.all([
    allSucceeded(beckon, attacker.agent.id, runs * 2),
    allSucceeded(beckon, victim.agent.id, runs + 20),
  ]);
});
