import { afterAll, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { startModelServer } from "../../test/model-server.ts";

const beckon = await startTestBeckon();
const other = await beckon.another();
afterAll(() => other.stop());
const models = await startModelServer();
afterAll(() => models.close());
const { name: provider } = await beckon.createProvider(models.url);
const agent = await beckon.createAgent({ model: `${provider}/echo`, instructions: "Repeat." });

/** Returns the URL for an invoke at the first process if `index` is even, else at the second. */
const urlOf = (index: number) =>
  `${(index % 2 === 0 ? beckon : other).url}/api/public/agents/${agent.id}/invoke`;

function invoke(url: string, input: string, headers: Record<string, string> = {}): Promise<Answer> {
  return beckon.call(url, { credential: agent.token, body: { input }, headers });
}

async function count(): Promise<number> {
  const { rows } = await beckon.db.database.engine.query<{ runs: number }>(
    "select count(*)::int as runs from runs",
  );
  return rows[0]?.runs ?? 0;
}

test("each of 1,000 parallel invokes, through two processes, gets the output of its own run", async () => {
  const nonces = Array.from({ length: 1_000 }, (_, index) => `${index} ${crypto.randomUUID()}`);
  const answers = await Promise.all(nonces.map((nonce, index) => invoke(urlOf(index), nonce)));
  expect(answers.map(({ status, body }) => ({ status, output: body.output }))).toEqual(
    nonces.map((output) => ({ status: 200, output })),
  );
  expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(nonces.length);
  expect(await count()).toBe(nonces.length);
  expect(models.requests.map(({ body }) => body.messages.at(-1)?.content).sort()).toEqual(
    [...nonces].sort(),
  );
  const { rows } = await beckon.db.database.engine.query<{ id: string; payload: string }>(
    "select run_id as id, payload from run_inputs",
  );
  const stored = new Map(rows.map(({ id, payload }) => [id, payload]));
  expect(answers.map(({ body }) => stored.get(body.run_id))).toEqual(nonces);
});

test.each([
  ["one process", () => urlOf(0)],
  ["two processes", urlOf],
])(
  "one Idempotency-Key 100 times in parallel through %s is one run, one model call and one response",
  async (_name, url) => {
    models.reset();
    const before = await count();
    const key = crypto.randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        invoke(url(index), `Hello ${key}`, { "idempotency-key": key }),
      ),
    );
    expect(answers[0]?.body).toEqual({
      ok: true,
      run_id: expect.any(String),
      output: `Hello ${key}`,
    });
    for (const { status, body } of answers)
      expect({ status, body }).toEqual({ status: 200, body: answers[0]?.body });
    expect(
      answers.filter(({ headers }) => headers.get("idempotency-replayed") !== "true"),
    ).toHaveLength(1);
    expect(await count()).toBe(before + 1);
    expect(models.requests).toHaveLength(1);
  },
);

test("one Idempotency-Key 100 times in parallel on a trigger, through two processes, is one run and one model call", async () => {
  models.reset();
  const { token } = await beckon.createTrigger(agent.id);
  const before = await count();
  const urls = Array.from(
    { length: 100 },
    (_, index) => `${(index % 2 === 0 ? beckon : other).url}/api/public/triggers/${token}`,
  );
  const answers = await Promise.all(
    urls.map((url) => beckon.call(url, { body: "Hello", headers: { "webhook-id": "msg_1" } })),
  );
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.run_id}`)).size).toBe(1);
  expect(await count()).toBe(before + 1);
  await expect.poll(() => models.requests.length).toBe(1);
});

test("100 bodies with one Idempotency-Key in parallel start one run, and the others are rejected", async () => {
  models.reset();
  const key = crypto.randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      invoke(urlOf(index), `Hello ${index}`, { "idempotency-key": key }),
    ),
  );
  const codes = answers.map(({ status, body }) => `${status} ${body.code ?? ""}`.trim());
  expect(codes.sort()).toEqual([
    "200",
    ...Array.from({ length: 99 }, () => "422 idempotency_mismatch"),
  ]);
  expect(models.requests).toHaveLength(1);
});
