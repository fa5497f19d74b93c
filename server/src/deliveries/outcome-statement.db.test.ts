import { describe, expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { subscribe } from "../../test/subscribe.ts";
import { seedAgent } from "../../test/tenant.ts";
import { claimDeliveries } from "./claim-statement.ts";
import { type AttemptLog, type Outcome, recordOutcomes } from "./outcome-statement.ts";

/**
 * Tests outcomes of attempts whose delivery was ended meanwhile, for example by a pause, and of
 * attempts during a delay that the receiver has requested.
 */

const { database } = await testDatabase();
const { engine } = database;
const { workspaceId } = await seedAgent(database);
const { id: subscriptionId } = await subscribe(engine, undefined, {
  url: "https://example.com/events",
  workspaceId,
});

let count = 0;
/** Inserts a due delivery with data, claims it, and returns the outcome of an attempt. */
async function claimed(kind: Outcome["kind"], deliveryKind = "event"): Promise<Outcome> {
  await engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, data,
        status, next_at)
      values ($3, $1, $2, $4, 'evt_1', 'run.finished', 1, '{"a": 1}', 'pending', now())`,
    [workspaceId, subscriptionId, `dlv_${++count}`, deliveryKind],
  );
  return claimedAgain(kind);
}

/** Claims the delivery that is due. Returns the outcome of an attempt of the claim. */
async function claimedAgain(kind: Outcome["kind"]): Promise<Outcome> {
  const { claimed: all } = await claimDeliveries(database, {
    busy: [],
    max: 10,
    maxFailing: 10,
    maxOfOne: { event: 10, callback: 10, test: 10 },
    leaseSeconds: 45,
  });
  expect(all).toHaveLength(1);
  const { id, lease, attempts, claims } = all[0] ?? { id: "", lease: "", attempts: 0, claims: 0 };
  const claim = {
    subscriptionId,
    deliveryId: id,
    lease,
    attempts,
    claims,
    hadData: true,
    countsForHealth: true,
    receiverDelayMs: null,
  };
  if (kind === "released") return { ...claim, kind, attemptLog: undefined };
  const error = kind === "succeeded" ? null : "The receiver responded with status 500.";
  const attemptLog = {
    startedAt: new Date(),
    durationMs: 1,
    url: "https://example.com/events",
    requestHeaders: {},
    status: error === null ? 200 : 500,
    responseHeaders: {},
    responseBody: "echo",
    error,
  };
  return { ...claim, ...(kind === "retry" ? { kind, delayMs: 0 } : { kind }), attemptLog };
}

const withLog = (outcome: Outcome, changed: Partial<AttemptLog>): Outcome =>
  outcome.kind === "released"
    ? outcome
    : { ...outcome, attemptLog: { ...outcome.attemptLog, ...changed } };

const end = ({ deliveryId }: Outcome, status: string) =>
  engine.query(
    "update deliveries set status = $2, next_at = null, finished_at = 'epoch' where id = $1",
    [deliveryId, status],
  );
const replay = ({ deliveryId }: Outcome) =>
  engine.query(
    `update deliveries set status = 'pending', attempts = 0, next_at = now(), finished_at = null
      where id = $1`,
    [deliveryId],
  );
const recordOutcome = (outcome: Outcome) =>
  recordOutcomes(database, [outcome], { maxGapSeconds: 3_600 });
/** Returns the delivery, with the response bodies of its attempts. */
async function stored({ deliveryId }: Outcome) {
  const { rows } = await engine.query(
    `select d.status, d.attempts, d.last_status, d.finished_at > 'epoch' as moved,
        array(select a.response_body from delivery_attempts a where a.delivery_id = d.id) as bodies
      from deliveries d where d.id = $1`,
    [deliveryId],
  );
  return rows[0];
}

test.each(["not_sent", "cancelled", "failed"])(
  "a delivery that became %s during its attempt has succeeded if the receiver accepts it",
  async (status) => {
    const outcome = await claimed("succeeded");
    await end(outcome, status);
    await recordOutcome(outcome);
    const succeeded = { status: "succeeded", attempts: 1, last_status: 200, moved: true };
    expect(await stored(outcome)).toEqual({ ...succeeded, bodies: ["echo"] });
    await recordOutcome(outcome);
    expect((await stored(outcome)).bodies).toHaveLength(1);
  },
);

test.each(["retry", "failed"] as const)(
  "it stays ended if the attempt fails, and the attempt is logged (%s)",
  async (kind) => {
    const outcome = await claimed(kind);
    await end(outcome, "not_sent");
    await recordOutcome(outcome);
    const notSent = { status: "not_sent", attempts: 1, last_status: 500, moved: false };
    expect(await stored(outcome)).toEqual({ ...notSent, bodies: ["echo"] });
  },
);

test("a delivery that was ended with a reason keeps it if the attempt fails", async () => {
  const errorAfter = async (outcome: Outcome, reason: string | null) => {
    await end(outcome, "not_sent");
    await engine.query(
      "update deliveries set last_error = coalesce($2, last_error) where id = $1",
      [outcome.deliveryId, reason],
    );
    await recordOutcome(outcome);
    const { rows } = await engine.query("select last_error from deliveries where id = $1", [
      outcome.deliveryId,
    ]);
    return rows[0].last_error;
  };
  expect(await errorAfter(await claimed("retry"), "Restored.")).toBe("Restored.");
  expect(await errorAfter(await claimed("succeeded"), "Restored.")).toBeNull();
  const error = "The receiver responded with status 500.";
  expect(await errorAfter(await claimed("retry"), null)).toBe(error);
  const first = await claimed("retry");
  await recordOutcome(withLog(first, { error: "Earlier." }));
  expect(await errorAfter(await claimedAgain("retry"), null)).toBe(error);
});

test("it stays ended without an attempt if it is released", async () => {
  const outcome = await claimed("released");
  await end(outcome, "not_sent");
  await recordOutcome(outcome);
  const notSent = { status: "not_sent", attempts: 0, last_status: null, moved: false };
  expect(await stored(outcome)).toEqual({ ...notSent, bodies: [] });
});

test("an outcome of a claim before the last one is not recorded", async () => {
  const first = await claimed("succeeded");
  await end(first, "not_sent");
  await replay(first);
  const second = await claimedAgain("retry");
  await end(second, "not_sent");
  await recordOutcome(first);
  expect(await stored(first)).toMatchObject({ status: "not_sent", bodies: [] });
  await recordOutcome(second);
  expect(await stored(first)).toMatchObject({ status: "not_sent", bodies: ["echo"] });
});

test("what the receiver responds is not stored if the data was deleted during the attempt", async () => {
  const outcome = await claimed("succeeded");
  await end(outcome, "cancelled");
  await engine.query("update deliveries set data = null where id = $1", [outcome.deliveryId]);
  await recordOutcome(outcome);
  expect(await stored(outcome)).toMatchObject({ status: "succeeded", bodies: [""] });
});

describe("the delay that a receiver has requested", () => {
  /** Returns whether the delay has ended after the outcome. */
  async function endedAfter(outcome: Outcome): Promise<boolean> {
    await engine.query("update subscriptions set not_before = now() + interval '1 hour'");
    await recordOutcome(outcome);
    const { rows } = await engine.query("select not_before <= now() as ended from subscriptions");
    await engine.query("update subscriptions set not_before = null");
    return rows[0].ended;
  }

  test("ends when a test succeeds", async () => {
    expect(await endedAfter(await claimed("succeeded", "test"))).toBe(true);
  });

  test("does not end when an event succeeds whose attempt was in progress", async () => {
    expect(await endedAfter(await claimed("succeeded"))).toBe(false);
  });

  test("does not end when a test of an earlier URL succeeds", async () => {
    const outcome = await claimed("succeeded", "test");
    expect(await endedAfter(withLog(outcome, { url: "https://example.com/before" }))).toBe(false);
  });

  test("does not end when a test fails", async () => {
    expect(await endedAfter(await claimed("failed", "test"))).toBe(false);
  });
});

test("a success after the subscription was disabled does not change since when it failed", async () => {
  const outcome = await claimed("succeeded");
  await engine.query(
    `update subscriptions set status = 'disabled', disabled_reason = 'failing',
        inactive_since = now(), failing_since = 'epoch' where id = $1`,
    [subscriptionId],
  );
  await end(outcome, "not_sent");
  await recordOutcome(outcome);
  const { rows } = await engine.query(
    "select failing_since = 'epoch' as same, last_success_at is not null as succeeded from subscriptions where id = $1",
    [subscriptionId],
  );
  expect(rows).toEqual([{ same: true, succeeded: true }]);
});
