import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";

const beckon = await startTestBeckon({ BECKON_EGRESS_ALLOW: "localhost:9" });
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

test("a secret that is given again keeps the previous one, unless its grace period is 0", async () => {
  const created = await beckon.call("/subscriptions", {
    body: { url: "http://127.0.0.1:9/events", event_types: ["run.finished"] },
  });
  const { id } = created.body.data;
  const rotate = async (grace_seconds: number) =>
    (await beckon.call(`/subscriptions/${id}/rotate`, { body: { secret, grace_seconds } })).body
      .data;
  const previous = async () => {
    const { rows } = await beckon.db.database.engine.query(
      "select previous_secret from subscriptions where id = $1",
      [id],
    );
    return rows[0].previous_secret;
  };
  const { previous_secret_until } = await rotate(600);
  const first = await previous();
  expect(await rotate(900)).toMatchObject({ secret, previous_secret_until });
  expect(await previous()).toBe(first);
  expect(await rotate(0)).toMatchObject({ secret, previous_secret_until: null });
  expect(await previous()).toBeNull();
});
