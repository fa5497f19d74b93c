import { expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { repeatUnavailable } from "../../test/repeat-unavailable.ts";
import { managedRoutes } from "./api/index.ts";

/** Sends simultaneous requests to every route that must execute only one of them. */

const beckon = await startTestBeckon();
const atOnce = 100;
const many = <T>(work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: atOnce }, (_, index) => work(index)));

const names = (routes: typeof managedRoutes) => routes.map(({ doc }) => doc.id).sort();

const subscribe = async () =>
  (
    await beckon.call("/subscriptions", {
      body: { url: "http://127.0.0.1:9/events", event_types: ["run.finished"] },
    })
  ).body.data as { id: string };

/** For each route that rotates a secret: its path, and a request that uses the returned secret. */
const rotating: Readonly<
  Record<
    string,
    () => Promise<{ path: string; works: (data: Record<string, string>) => Promise<Answer> }>
  >
> = {
  rotateAgentToken: async () => {
    const { id } = await beckon.createAgent();
    return {
      path: `/agents/${id}/token/rotate`,
      works: ({ token = "" }) => beckon.call(`/agents/${id}/runs`, { credential: token }),
    };
  },
  rotateTrigger: async () => {
    const { id } = await beckon.createAgent();
    const trigger = await beckon.createTrigger(id);
    return {
      path: `/agents/${id}/triggers/${trigger.id}/rotate`,
      works: ({ url = "" }) => beckon.call(url, { credential: null, body: "Hello" }),
    };
  },
  rotateKey: async () => {
    const { data } = (await beckon.call("/keys", { body: { name: "Test", preset: "observer" } }))
      .body;
    return {
      path: `/keys/${data.id}/rotate`,
      works: ({ key = "" }) => beckon.call("/agents", { credential: key }),
    };
  },
  rotateSubscriptionSecret: async () => {
    const { id } = await subscribe();
    return {
      path: `/subscriptions/${id}/rotate`,
      // A signing secret is no credential for requests to Beckon. So this function checks that the
      // secret is the one that the API reveals.
      works: async ({ secret = "" }) => {
        const answer = await beckon.call(`/subscriptions/${id}/secret`);
        return { ...answer, status: answer.body.data.secret === secret ? 200 : 401 };
      },
    };
  },
};

test("this file lists every route that rotates", () => {
  expect(Object.keys(rotating).sort()).toEqual(
    names(managedRoutes.filter(({ path }) => path.endsWith("/rotate"))),
  );
});

test.each(Object.entries(rotating))(
  "%s a hundred times at the same time leaves one valid secret",
  async (_, make) => {
    const { path, works } = await make();
    const answers = await many(() => repeatUnavailable(() => beckon.call(path, { body: {} })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const statuses = await Promise.all(
      answers.map(async ({ body }) => (await works(body.data)).status),
    );
    expect(statuses.sort()).toEqual([200, ...Array<number>(atOnce - 1).fill(401)]);
  },
);

test.each(Object.entries(rotating))(
  "%s with one Idempotency-Key a hundred times at the same time rotates once",
  async (_, make) => {
    const { path, works } = await make();
    const answers = await many(() =>
      repeatUnavailable(() =>
        beckon.call(path, { body: {}, headers: { "idempotency-key": path } }),
      ),
    );
    expect(new Set(answers.map(({ body }) => JSON.stringify(body.data)))).toHaveLength(1);
    expect((await works(answers[0]?.body.data)).status).toBe(200);
  },
);

const agentOfTriggers = await beckon.createAgent();
/** For each route with If-Match: a resource, the path of its list, and two concurrent changes. */
const matching: Readonly<
  Record<
    string,
    {
      readonly make: () => Promise<{ id: string }>;
      readonly list: string;
      readonly update: object;
      readonly request: readonly [method: string, path: string, body?: unknown];
    }
  >
> = {
  updateAgent: ofAgent("PATCH", "", { name: "Ours" }),
  deleteAgent: ofAgent("DELETE", ""),
  restoreAgentVersion: ofAgent("POST", "/versions/1/restore", {}),
  updateSubscription: ofSubscription("PATCH", { description: "Ours" }),
  deleteSubscription: ofSubscription("DELETE"),
  updateTrigger: ofTrigger("PATCH", { name: "Ours" }),
  deleteTrigger: ofTrigger("DELETE"),
};

function ofAgent(...request: readonly [method: string, path: string, body?: unknown]) {
  const update = { name: "Theirs" };
  return { make: () => beckon.createAgent(), list: "/agents", update, request };
}

function ofSubscription(method: string, body?: unknown) {
  const request = [method, "", body] as const;
  return { make: subscribe, list: "/subscriptions", update: { description: "Theirs" }, request };
}

function ofTrigger(method: string, body?: unknown) {
  const request = [method, "", body] as const;
  const list = `/agents/${agentOfTriggers.id}/triggers`;
  const make = () => beckon.createTrigger(agentOfTriggers.id);
  return { make, list, update: { name: "Theirs" }, request };
}

test("this file lists every route with If-Match", () => {
  expect(Object.keys(matching).sort()).toEqual(
    names(managedRoutes.filter(({ doc }) => doc.ifMatch)),
  );
});

test.each(Object.entries(matching))(
  "%s against an update: one succeeds, the other gets stale",
  async (_, { make, list, update, request: [method, path, body] }) => {
    for (let round = 0; round < 5; round++) {
      const one = `${list}/${(await make()).id}`;
      const headers = { "if-match": (await beckon.call(one)).headers.get("etag") ?? "" };
      const answers = await Promise.all([
        beckon.call(one + path, { method, body, headers }),
        beckon.call(one, { method: "PATCH", body: update, headers }),
      ]);
      const [won, lost] = answers[0].status < 300 ? answers : answers.toReversed();
      expect(won?.status).toBeOneOf([200, 204]);
      // A request after a deletion finds no resource, so nothing can be stale.
      expect([lost?.status, lost?.body.code]).toEqual(
        won?.status === 204 ? [404, "not_found"] : [412, "stale"],
      );
      // The response can also have fields that only this route has, such as `warnings`.
      if (won?.status === 200)
        expect(won.body.data).toMatchObject((await beckon.call(one)).body.data);
    }
  },
);
