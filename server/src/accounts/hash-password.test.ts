import { expect, test } from "vitest";
import { hashPassword, verifyPassword } from "./hash-password.ts";

const address = "203.0.113.1";
const hash = (text: string) => hashPassword(text, address);

test("a hash matches its password only, and two hashes of one password differ", async () => {
  const [one, two] = await Promise.all([hash("correct horse"), hash("correct horse")]);
  expect(one).not.toBe(two);
  expect(await verifyPassword({ hash: one, password: "correct horse" }, address)).toBe(true);
  expect(await verifyPassword({ hash: one, password: "Correct horse" }, address)).toBe(false);
});

test("hashing does not block the event loop", async () => {
  let turns = 0;
  const count = setInterval(() => turns++, 1);
  await Promise.all(Array.from({ length: 6 }, () => hash("correct horse")));
  clearInterval(count);
  // If the hashes were computed on the event loop, the timer would fire only a few times.
  expect(turns).toBeGreaterThan(12);
});

test("of many concurrent hashes some wait in the queue and the others are rejected", async () => {
  const settled = await Promise.allSettled(
    Array.from({ length: 60 }, (_, index) => hashPassword("correct horse", `198.51.100.${index}`)),
  );
  const rejected = settled.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  expect(rejected.length).toBe(18);
  for (const reason of rejected)
    expect(reason).toMatchObject({ code: "unavailable", retryAfter: 1 });
  expect(await hash("correct horse")).toMatch(/:/);
});

test("the hashes of one network leave room for those of others", async () => {
  const ofOne = Array.from({ length: 60 }, (_, index) =>
    hashPassword("correct horse", `2001:db8::${index}`),
  );
  const ofOther = hash("correct horse");
  const settled = await Promise.allSettled(ofOne);
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(12);
  expect(await ofOther).toMatch(/:/);
});
