import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { bodyOf, fillTwoWorkspaces, isOperators, pathOf } from "../../test/filled-workspace.ts";
import { addPerson } from "../../test/people.ts";
import { openStream } from "../../test/read-stream.ts";
import { readRows } from "../../test/rows-of.ts";
import { insertKey } from "../../test/workspace-key.ts";
import { managedRoutes } from "./api/index.ts";

/**
 * Two workspaces with the same content. Lists, exports and streams of one workspace must contain
 * nothing of the other. The same applies to responses that are repeated for an Idempotency-Key.
 */

const beckon = await startTestBeckon();
const [first, second] = await fillTwoWorkspaces(beckon);
/** An owner of both workspaces. The header `beckon-workspace` of each request names one of them. */
const ownerOfBoth = await addPerson(beckon, { role: "owner" });
await beckon.db.database.engine.query(
  "insert into members (user_id, workspace_id, role) values ($1, $2, 'owner')",
  [ownerOfBoth.id, second.id],
);
const rows = await readRows(beckon.db);
const [idsOfFirst, idsOfSecond] = [await rows.ids(first.id), await rows.ids(second.id)];
const onlyIn = (some: ReadonlySet<string>, others: ReadonlySet<string>) =>
  [...some].filter((id) => !others.has(id));

const sides = [
  { ours: first, theirs: second, foreign: onlyIn(idsOfSecond, idsOfFirst) },
  { ours: second, theirs: first, foreign: onlyIn(idsOfFirst, idsOfSecond) },
];

test("each workspace has its own ids", () => {
  for (const { foreign } of sides) expect(foreign.length).toBeGreaterThan(40);
});

/**
 * Sends a request. If `listed` is true, repeats it until the list has an item: events are listed
 * only after all older transactions of the PostgreSQL server have ended, including those of other
 * tests.
 */
const read = (call: (path: string) => Promise<Answer>, path: string, listed: boolean) =>
  eventually(`something in ${path}`, async () => {
    const answer = await call(path);
    return !listed || answer.body?.data?.length > 0 ? answer : undefined;
  });

test.each(managedRoutes.filter((route) => route.method === "GET" && !isOperators(route)))(
  "$path shows only resources of the workspace",
  async ({ path, doc }) => {
    for (const { ours, theirs, foreign } of sides) {
      for (const call of [
        (to: string) => beckon.call(to, { credential: ours.key }),
        ours.owner.call,
      ]) {
        let asked: string | undefined = pathOf(path, ours);
        for (let pages = 0; asked !== undefined && pages < 20; pages++) {
          const { status, body } = await read(call, asked, doc.list === true && pages === 0);
          const text = JSON.stringify(body ?? null);
          expect(status).toBe(200);
          expect([...foreign, theirs.mark].filter((each) => text.includes(each))).toEqual([]);
          asked =
            doc.list && body.next !== null
              ? `${pathOf(path, ours)}?after=${encodeURIComponent(body.next)}`
              : undefined;
        }
      }
    }
  },
);

test("a stream of events carries those of its workspace, whatever agent it filters by", async () => {
  for (const { ours, theirs, foreign } of sides) {
    const open = async (query: string, credential: string) => {
      const reader = await openStream(`${beckon.url}/api/public/events${query}`, { credential });
      onTestFinished(() => reader.close());
      await reader.has("stream.opened");
      return reader;
    };
    const all = await open("", ours.key);
    const ofTheirs = await open(`?agent_id=${theirs.agent.id}`, ours.key);
    const elsewhere = await open("", theirs.key);
    const { run_id: theirRun } = (await beckon.invoke(theirs.agent, "Hello")).body;
    await eventually("their run", () => elsewhere.text.includes(theirRun) || undefined);
    const { run_id: ourRun } = (await beckon.invoke(ours.agent, "Hello")).body;
    await eventually("our run", () => all.text.includes(ourRun) || undefined);
    expect([...foreign, theirRun].filter((id) => all.text.includes(id))).toEqual([]);
    expect(elsewhere.text).not.toContain(ourRun);
    expect(ofTheirs.types).toEqual(["stream.opened"]);
  }
});

const decoded = (cursor: string) => Buffer.from(cursor, "base64url").toString("latin1");
/**
 * Returns the cursor with transaction id 0. If its event is in the caller's workspace, the server
 * rejects this cursor, because the event has another transaction id.
 */
const outdated = (cursor: string) =>
  Buffer.from(decoded(cursor).replace(/\.-?\d+\./, ".0.")).toString("base64url");

test.each(["run.finished", "agent.paused"])(
  "a forged cursor does not show whether another workspace has its event: %s",
  async (kind) => {
    for (const { ours, theirs } of sides) {
      const path = `/events?kind=${kind}`;
      const { data } = (await beckon.call(path, { credential: theirs.key })).body;
      const forged: string = outdated(data[0].cursor);
      const unknown = Buffer.from(
        decoded(forged).replace(/(?:run_[0-9a-z]{26})?\.\d+$/, `run_${"0".repeat(26)}.1`),
      ).toString("base64url");
      const askWith = async (cursor: string) => {
        const { status, body } = await beckon.call(`${path}&after=${cursor}`, {
          credential: ours.key,
        });
        return { status, body };
      };
      expect(await askWith(forged)).toEqual(await askWith(unknown));
    }
  },
);

describe("pages of events for a caller that is limited to an agent", () => {
  let mine: { id: string; token: string };
  let otherRunIds: string[];
  let nexts: string[];

  beforeAll(async () => {
    mine = await beckon.createAgent();
    const other = await beckon.createAgent();
    const run = async (agent: typeof mine): Promise<string> =>
      (await beckon.invoke(agent, "Hello")).body.run_id;
    await run(mine);
    otherRunIds = [await run(other), await run(other)];
    const last = await run(mine);
    nexts = await eventually("the end of the last run", async () => {
      const pages = await pagesOf(mine.token);
      const isComplete = pages.some(({ data }) =>
        data.some(({ run_id, type }) => run_id === last && type === "run.finished"),
      );
      return isComplete ? pages.flatMap(({ next }) => next ?? []) : undefined;
    });
  });

  interface Page {
    readonly data: readonly { readonly run_id: string; readonly type: string }[];
    readonly next: string | null;
  }

  /** Reads all events that the credential can see, in pages of one event. Returns the pages. */
  async function pagesOf(credential: string): Promise<Page[]> {
    const pages: Page[] = [];
    for (let next: string | null = ""; next !== null; next = pages.at(-1)?.next ?? null) {
      const after = next && `&after=${next}`;
      pages.push((await beckon.call(`/events?limit=1${after}`, { credential })).body);
    }
    return pages;
  }

  test("have cursors without the ids of other agents' runs", async () => {
    const limited = await insertKey(beckon, { scopes: ["runs:read"], agentIds: [mine.id] });
    const ofKey = (await pagesOf(limited)).flatMap(({ next }) => next ?? []);
    const texts = [...nexts, ...ofKey].map(decoded);
    expect(otherRunIds.filter((id) => texts.some((text) => text.includes(id)))).toEqual([]);
  });

  test("continue after an event's own cursor, which is the only kind in earlier versions", async () => {
    const { data } = (await beckon.call("/events?limit=1")).body;
    const answer = await beckon.call(`/events?after=${data[0].cursor}`, { credential: mine.token });
    expect(answer.status).toBe(200);
  });

  test("have cursors that another workspace cannot use", async () => {
    const answer = await beckon.call(`/events?after=${nexts[0]}`, { credential: second.key });
    expectError(answer, 400, "bad_request", /cursor from another workspace/);
  });
});

const storing = managedRoutes.filter(({ path, doc }) => doc.once && !path.includes(":"));

test.each(storing)(
  "$method $path with the same Idempotency-Key is executed in each workspace",
  async (route) => {
    const body = {
      ...(bodyOf(route) as object),
      ...(route.doc.id === "createProvider" ? { base_url: "http://127.0.0.1:9/v1" } : {}),
    };
    const send = (workspace: string, sent: object = body) =>
      ownerOfBoth.call(route.path, {
        body: sent,
        headers: { "idempotency-key": "the same", "beckon-workspace": workspace },
      });
    const one = await send(first.id);
    const other = await send(second.id);
    const again = await send(first.id);
    expect([one.status, again.body, again.headers.get("idempotency-replayed")]).toEqual([
      route.doc.created === undefined ? 200 : 201,
      one.body,
      "true",
    ]);
    if (route.doc.id === "createWorkspace" || isOperators(route))
      return expect(other.status).toBe(403);
    expect([other.status, other.headers.get("idempotency-replayed")]).toEqual([one.status, null]);
    const idsOf = (answered: unknown) => JSON.stringify(answered).match(/"id":"[^"]+"/g);
    // The answers of bulk operations have no ids.
    if (idsOf(one.body) !== null) expect(idsOf(other.body)).not.toEqual(idsOf(one.body));
  },
);
