import { test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { sendDuring } from "../../test/send-during.ts";

const beckon = await startTestBeckon();
const body = { name: "Test", preset: "everything" };
const add = async () => (await beckon.call("/keys", { body })).body.data;

test("a key that is deleted during a request neither creates nor rotates a key", async () => {
  const other = await add();
  for (const [path, options] of [
    ["/keys", { body }],
    [`/keys/${other.id}/rotate`, { method: "POST" }],
  ] as const) {
    const { id, key: credential } = await add();
    const response = await sendDuring(
      beckon.db.database.engine,
      ["delete from keys where id = $1", [id]],
      () => beckon.call(path, { ...options, credential }),
    );
    expectError(response, 401, "unauthorized");
  }
});
