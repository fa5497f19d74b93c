import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { insertKey } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);

const labels = (externalId: string, tags?: string) => ({
  "beckon-external-id": externalId,
  ...(tags === undefined ? {} : { "beckon-tags": tags }),
});
const invoke = (headers: Record<string, string>, input = "Hello", of = agent) =>
  beckon.invoke(of, input, headers);
const fire = (headers: Record<string, string>) =>
  beckon.call(trigger.url, { credential: null, body: "Hello", headers });
const runOf = async (runId: string) => (await beckon.call(`/runs/${runId}`)).body.data;
const labelsOf = async (runId: string) => {
  const { external_id, tags } = await runOf(runId);
  return [external_id, tags];
};
const idsOf = async (path: string, credential = beckon.key): Promise<string[]> =>
  (await beckon.call(path, { credential })).body.data.map(({ id }: { id: string }) => id);

describe("the caller's own id and tags", () => {
  test.each([
    ["invoke", invoke],
    ["fire", fire],
  ])("are stored by %s and shown with the run", async (_, start) => {
    const { status, body } = await start(labels("order-4711", "billing, urgent"));
    expect(status).toBe(200);
    expect(await labelsOf(body.run_id)).toEqual(["order-4711", ["billing", "urgent"]]);
  });

  test("are null and empty for a run whose caller gave none, or only one of them", async () => {
    const of = async (headers: Record<string, string>) =>
      labelsOf((await invoke(headers)).body.run_id);
    expect(await of({})).toEqual([null, []]);
    expect(await of(labels("only"))).toEqual(["only", []]);
    expect(await of({ "beckon-tags": "only" })).toEqual([null, ["only"]]);
  });

  test("can have any characters, percent-encoded as UTF-8", async () => {
    const id = "Bestellung 4711 / Zürich 👋 100%";
    const tags = ["a,b", "日本", '"x" \\ {y}'];
    const { body } = await invoke(
      labels(encodeURIComponent(id), tags.map(encodeURIComponent).join(",")),
    );
    expect(await labelsOf(body.run_id)).toEqual([id, tags]);
  });

  test("have their longest values", async () => {
    const tags = Array.from({ length: 10 }, (_, n) => `${n}`.padEnd(64, "x"));
    const { body } = await invoke(labels("x".repeat(255), tags.join(",")));
    expect(await labelsOf(body.run_id)).toEqual(["x".repeat(255), tags]);
  });

  test("belong to their own run when labelled and other runs start at once", async () => {
    const numbers = Array.from({ length: 30 }, (_, n) => n);
    const started = await Promise.all(
      numbers.map((n) => invoke(n % 3 === 0 ? {} : labels(`own-${n}`, `tag-${n}`))),
    );
    expect(await Promise.all(started.map(({ body }) => labelsOf(body.run_id)))).toEqual(
      numbers.map((n) => (n % 3 === 0 ? [null, []] : [`own-${n}`, [`tag-${n}`]])),
    );
  });

  test.each([
    ["an empty id", { "beckon-external-id": "" }, /beckon-external-id must not be empty/],
    ["a blank id", labels("%20"), /beckon-external-id must not be blank/],
    ["a long id", labels("x".repeat(256)), /beckon-external-id must be at most 255 characters/],
    ["an id in Latin-1", labels("Zürich"), /beckon-external-id .*Percent-encode/],
    ["a percent sign", labels("100% off"), /beckon-external-id .*%25/],
    ["an id that is not UTF-8", labels("%FF"), /beckon-external-id .*UTF-8/],
    ["NUL", labels("a%00b"), /beckon-external-id must not contain NUL/],
    ["a line break", labels("a%0Ab"), /beckon-external-id must not contain control characters/],
    ["an empty tag", labels("x", "a,,b"), /beckon-tags\.1 must not be empty/],
    ["no tag", { "beckon-tags": "" }, /beckon-tags\.0 must not be empty/],
    ["a long tag", labels("x", "x".repeat(65)), /beckon-tags\.0 must be at most 64 characters/],
    ["a line break in a tag", labels("x", "a%0Ab"), /beckon-tags\.0 .*control characters/],
    ["a tag twice", labels("x", "a,b,a"), /beckon-tags must not have a tag twice/],
    ["11 tags", labels("x", "a,b,c,d,e,f,g,h,i,j,k"), /beckon-tags must be at most 10 items/],
  ])("are rejected by invoke and fire: %s", async (_, headers, text) => {
    const idempotent = { ...headers, "idempotency-key": "wrong-labels" };
    for (const answer of [
      await invoke(headers),
      await fire(headers),
      await invoke(idempotent),
      await fire(idempotent),
    ])
      expectError(answer, 400, "bad_request", text);
  });

  test("with an error are reported only to a caller whose credential is valid", async () => {
    const wrong = labels("100%");
    expectError(await invoke(wrong, "Hello", { ...agent, token: "bka_x" }), 401, "unauthorized");
  });

  test("are kept by a retry, and by a retry of the retry", async () => {
    const { body } = await fire(labels("kept", "a,b"));
    let runId: string = body.run_id;
    for (let time = 0; time < 2; time++) {
      await eventually("the end", async () => (await runOf(runId)).finished_at ?? undefined);
      const retried = await beckon.call(`/runs/${runId}/retry`, { method: "POST" });
      expect(retried.body.data).toMatchObject({ external_id: "kept", tags: ["a", "b"] });
      runId = retried.body.data.id;
    }
  });
});

describe("an Idempotency-Key", () => {
  test.each([
    ["invoke", invoke],
    ["fire", fire],
  ])("of %s repeats a request with the same labels, and no other", async (name, start) => {
    const key = { "idempotency-key": `labels-of-${name}` };
    const first = await start({ ...key, ...labels("order-1", "a") });
    const again = await start({ ...key, ...labels("order-1", "a") });
    expect([again.status, again.body.run_id]).toEqual([200, first.body.run_id]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    for (const other of [labels("order-2", "a"), labels("order-1", "b"), labels("order-1"), {}])
      expectError(
        await start({ ...key, ...other }),
        422,
        "idempotency_mismatch",
        /beckon-external-id/,
      );
  });
});

describe("a search", () => {
  test("finds runs by external id and by tag, newest first", async () => {
    const mine = await beckon.createAgent();
    const started: string[] = [];
    for (const tags of ["red", "red,blue", "blue"])
      started.unshift((await invoke(labels("found", tags), "Hello", mine)).body.run_id);
    const [third, second, first] = started;
    expect(await idsOf("/runs?external_id=found")).toEqual(started);
    expect(await idsOf("/runs?external_id=found&tag=red")).toEqual([second, first]);
    expect(await idsOf(`/agents/${mine.id}/runs?tag=blue`)).toEqual([third, second]);
    expect(await idsOf(`/agents/${mine.id}/runs?external_id=found`)).toEqual(started);
    expect(await idsOf(`/runs?external_id=found&agent_id=${agent.id}`)).toEqual([]);
    expect(await idsOf("/runs?external_id=found&status=failed")).toEqual([]);
    expect(await idsOf("/runs?external_id=foun")).toEqual([]);
    expect(await idsOf(`/agents/${mine.id}/runs?tag=re`)).toEqual([]);
  });

  test("by external id or tag can have a text, a summary and statistics", async () => {
    const mine = await beckon.createAgent();
    const one = (await invoke(labels("beside", "beside"), "Alpha", mine)).body.run_id;
    await invoke(labels("beside", "beside"), "Beta", mine);
    await invoke({}, "Alpha", mine);
    const stats = async (query: string, credential = beckon.key) =>
      (await beckon.call(`/runs/stats?${query}`, { credential })).body.data.groups[0].runs
        .succeeded;
    const elsewhere = await insertKey(beckon, { scopes: ["runs:read"], agentIds: [agent.id] });
    for (const filter of ["external_id=beside", "tag=beside"]) {
      expect(await idsOf(`/runs?${filter}&text=alpha`)).toEqual([one]);
      const { data } = (await beckon.call(`/runs?${filter}&text=alpha&view=summary`)).body;
      expect(data).toMatchObject([{ external_id: "beside", tags: ["beside"], input_bytes: 5 }]);
      expect(await stats(filter)).toBe(2);
      expect(await stats(`${filter}&agent_id=${mine.id}`)).toBe(2);
      expect(await stats(`${filter}&agent_id=${agent.id}`)).toBe(0);
      expect(await stats(filter, elsewhere)).toBe(0);
    }
  });

  test("by external id has pages", async () => {
    const started: string[] = [];
    for (let n = 0; n < 5; n++) started.unshift((await invoke(labels("pages"))).body.run_id);
    const found: string[] = [];
    for (let after = ""; ; ) {
      const { body } = await beckon.call(`/runs?external_id=pages&limit=2${after}`);
      found.push(...body.data.map(({ id }: { id: string }) => id));
      if (body.next === null) break;
      after = `&after=${body.next}`;
    }
    expect(found).toEqual(started);
  });

  test("finds no runs of other workspaces, or of agents to which a key is not limited", async () => {
    const mine = await beckon.createAgent();
    await invoke(labels("secret", "secret"));
    const own = await invoke(labels("secret", "secret"), "Hello", mine);
    const limited = await insertKey(beckon, { scopes: ["runs:read"], agentIds: [mine.id] });
    const { data: other } = (await beckon.call("/workspaces", { body: { name: "Other" } })).body;
    for (const filter of ["external_id=secret", "tag=secret"]) {
      expect(await idsOf(`/runs?${filter}`, limited)).toEqual([own.body.run_id]);
      expect(await idsOf(`/runs?${filter}`, other.key)).toEqual([]);
    }
  });

  test.each(["external_id=", "tag=", `external_id=${"x".repeat(256)}`, "tag=a&external_id=%00"])(
    "rejects %s",
    async (query) => expectError(await beckon.call(`/runs?${query}`), 400, "bad_request"),
  );
});

test("many runs can be cancelled by external id and deleted by tag", async () => {
  const held = await startHeldModel(beckon);
  const waiting = await beckon.createAgent({ model: held.model });
  const start = async (headers: Record<string, string>) =>
    (await invoke({ ...headers, prefer: "respond-async" }, "Hello", waiting)).body.run_id;
  const kept = await start(labels("kept", "other"));
  const swept = await start(labels("swept", "old"));
  const cancelled = await beckon.call("/runs/cancel", {
    body: { filter: { external_id: "swept" } },
  });
  expect(cancelled.body.data).toEqual({ cancelled: 1, next: null });
  await eventually("the end", async () => (await runOf(swept)).finished_at ?? undefined);
  const deleted = await beckon.call("/runs/delete", { body: { filter: { tag: "old" } } });
  expect(deleted.body.data).toEqual({ deleted: 1, next: null });
  expect(await idsOf(`/agents/${waiting.id}/runs`)).toEqual([kept]);
});
