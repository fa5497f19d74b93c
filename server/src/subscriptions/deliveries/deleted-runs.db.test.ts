import { expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { timeOf } from "../../base/ids.ts";

/**
 * Tests the resume and the replay of a subscription most of whose deliveries are of deleted runs.
 * The server sends no deliveries, so replayed ones stay pending.
 */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });

/** Returns the id of a delivery of the `n`-th millisecond. */
const idOf = (n: number) => `dlv_01${String(n).padStart(8, "0")}${"0".repeat(16)}`;

/**
 * Returns the path of a paused subscription with 20 deliveries of workspace events that were not
 * sent, followed by `deleted` ones of runs that do not exist, and one more of a workspace event.
 * @param status that of the deliveries of runs that do not exist
 */
async function pausedSubscription(deleted: number, status = "not_sent"): Promise<string> {
  const { data } = (
    await beckon.call("/subscriptions", {
      body: { url: "http://127.0.0.1:9/events", event_types: ["agent.paused"] },
    })
  ).body;
  await beckon.call(`/subscriptions/${data.id}/pause`, { method: "POST" });
  await beckon.db.database.engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
        run_id, seq, agent_id, status, finished_at)
      select 'dlv_01' || lpad(n::text, 8, '0') || repeat('0', 16), s.workspace_id, s.id, 'event',
        'evt_' || n, 'run.finished', 1, run.id, run.seq, run.agent_id,
        case when run.id is null then 'not_sent' else $3 end,
        now() + n * interval '1 millisecond'
      from subscriptions s cross join generate_series(1, $2::int + 21) n
        left join lateral (select 'run_' || n as id, 3 as seq, 'agt_none' as agent_id) run
          on n between 21 and $2 + 20
      where s.id = $1`,
    [data.id, deleted, status],
  );
  return `/subscriptions/${data.id}`;
}

test("a resume counts what it missed among the last 100,000 deliveries", async () => {
  const path = await pausedSubscription(99_994);
  const { status, body } = await beckon.call(`${path}/resume`, { method: "POST" });
  expect(status).toBe(200);
  expect(body.data.missed).toEqual({
    deliveries: 6,
    since: timeOf(idOf(1)).toISOString(),
  });
});

test.each([
  ["what was missed", "missed", "not_sent"],
  ["all", "all", "cancelled"],
])(
  "a replay of %s reads 100,000 deliveries, and the next one continues after them",
  async (_name, which, status) => {
    const path = await pausedSubscription(99_994, status);
    await beckon.call(`${path}/resume`, { method: "POST" });
    const replay = async (body: object) =>
      (
        await beckon.call(`${path}/replay`, {
          body: { since: "1970-01-01T00:00:00Z", which, ...body },
        })
      ).body.data;
    const first = await replay({});
    // The oldest delivery that was read is left to the next request, with its millisecond.
    expect(first).toEqual({
      replayed: 5,
      more: true,
      next_until: timeOf(idOf(17)).toISOString(),
    });
    expect(await replay({ until: first.next_until })).toEqual({
      replayed: 16,
      more: false,
      next_until: timeOf(idOf(1)).toISOString(),
    });
  },
);
