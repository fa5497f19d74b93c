import { expect, test } from "vitest";
import { hashPassword, verifyPassword } from "./hash-password.ts";

test("a hash matches its password only, and two hashes of one password differ", async () => {
  const [one, two] = await Promise.all([
    hashPassword("correct horse"),
    hashPassword("correct horse"),
  ]);
  expect(one).not.toBe(two);
  expect(await verifyPassword({ hash: one, password: "correct horse" })).toBe(true);
  expect(await verifyPassword({ hash: one, password: "Correct horse" })).toBe(false);
});

test("hashing does not block the event loop", async () => {
  let turns = 0;
  const count = setInterval(() => turns++, 1);
  const began = performance.now();
  await Promise.all(Array.from({ length: 6 }, () => hashPassword("correct horse")));
  clearInterval(count);
  // If the hashes were computed on the event loop, the timer would fire only a few times.
  expect(turns).toBeGreaterThan((performance.now() - began) / 20);
});

test("of many concurrent hashes some wait in the queue and the others are rejected", async () => {
  const settled = await Promise.allSettled(
    Array.from({ length: 60 }, () => hashPassword("correct horse")),
  );
  const rejected = settled.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  expect(rejected.length).toBe(18);
  for (const reason of rejected)
    expect(reason).toMatchObject({ code: "unavailable", retryAfter: 1 });
  expect(await hashPassword("correct horse")).toMatch(/:/);
});
