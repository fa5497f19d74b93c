import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";

const beckon = await startTestBeckon({ BECKON_TRUST_PROXY: "1" });
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);

/** Each test guesses from an address of its own. */
const from = (address: string) => ({ "x-forwarded-for": address });
const doors = [
  (headers: Record<string, string>) => beckon.call("/agents", { credential: "wrong", headers }),
  (headers: Record<string, string>) =>
    beckon.invoke({ id: agent.id, token: "bka_wrong" }, "Hello", headers),
  (headers: Record<string, string>) =>
    beckon.call("/triggers/bkt_wrong", { credential: null, body: "Hello", headers }),
] as const;

async function guess(address: string): Promise<void> {
  for (let round = 0; round < 10; round++) {
    await Promise.all(
      Array.from({ length: 31 }, (_, index) => doors[(index % 3) as 0 | 1 | 2](from(address))),
    );
  }
}

test("whoever guesses at any of the doors is soon told to wait, at all of them", async () => {
  await guess("203.0.113.1");
  for (const door of doors) {
    const answer = await door(from("203.0.113.1"));
    expectError(answer, 429, "too_many_requests");
    const wait = Number(answer.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
  }
});

test("valid callers at the address of one who guesses are served", async () => {
  await guess("203.0.113.2");
  const headers = from("203.0.113.2");
  const answers = await Promise.all([
    beckon.call("/agents", { headers }),
    beckon.invoke(agent, "Hello", headers),
    beckon.call(trigger.url, { credential: null, body: "Hello", headers }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test("one who guesses does not slow down another address", async () => {
  await guess("203.0.113.3");
  const answers = await Promise.all(doors.map((door) => door(from("203.0.113.4"))));
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
});

test("an address that a caller names in front of the proxy's own does not help who guesses", async () => {
  await guess("198.51.100.9, 203.0.113.5");
  expect((await doors[0](from("198.51.100.10, 203.0.113.5"))).status).toBe(429);
});

test("a few mistakes are told as such", async () => {
  for (let round = 0; round < 20; round++)
    expect((await doors[0](from("203.0.113.6"))).status).toBe(401);
});

test("the slowed down page of another origin may read why", async () => {
  await guess("203.0.113.7");
  expect((await doors[2](from("203.0.113.7"))).headers.get("access-control-allow-origin")).toBe(
    "*",
  );
});

test("each failure says how many more there may be until when, and the last that there are none", async () => {
  const address = "203.0.113.8";
  for (const [index, door] of doors.entries()) {
    const { headers } = await door(from(address));
    expect(headers.get("ratelimit-policy")).toBe('"failed-authentications";q=300;w=60');
    expect(headers.get("ratelimit")).toMatch(
      new RegExp(`^"failed-authentications";r=${299 - index};t=([1-9]|[1-5]\\d|60)$`),
    );
  }
  await guess(address);
  for (const door of doors) {
    const { headers } = await door(from(address));
    expect(headers.get("ratelimit")).toBe(
      `"failed-authentications";r=0;t=${headers.get("retry-after")}`,
    );
  }
});

test("a valid caller is told of no limit, also at the address of one who guesses", async () => {
  await guess("203.0.113.9");
  const { headers } = await beckon.call("/agents", { headers: from("203.0.113.9") });
  expect([
    headers.get("ratelimit-policy"),
    headers.get("ratelimit"),
    headers.get("retry-after"),
  ]).toEqual([null, null, null]);
});

/** An address of one IPv6 network of a test's own; the last two groups differ. */
const inNetwork = (network: string) => (index: number) =>
  `2001:db8:0:${network}:${index.toString(16)}::${index.toString(16)}`;

test("whoever guesses from many addresses of one IPv6 network is told to wait, and another network is not", async () => {
  const address = inNetwork("a");
  for (let round = 0; round < 10; round++) {
    await Promise.all(
      Array.from({ length: 31 }, (_, index) => doors[0](from(address(31 * round + index)))),
    );
  }
  expect((await doors[0](from(address(1_000)))).status).toBe(429);
  expect((await doors[0](from("2001:DB8:0:A:ffff:ffff:ffff:ffff"))).status).toBe(429);
  expect((await doors[0](from("2001:db8:0:b::1"))).status).toBe(401);
});

test("passwords guessed from many addresses of one IPv6 network are counted as those of one", async () => {
  const address = inNetwork("c");
  const body = {
    email: "nobody@example.com",
    password: "guessed",
    workspace_id: "wsp_00000000000000000000000000",
  };
  const attempt = (headers: Record<string, string>) =>
    beckon.call("/sign-in", { credential: null, body, headers });
  await Promise.all(Array.from({ length: 30 }, (_, index) => attempt(from(address(index)))));
  expect((await attempt(from(address(1_000)))).status).toBe(429);
  expect((await attempt(from("2001:db8:0:d::1"))).status).toBe(401);
});

test("an IPv4 address is counted as itself, however it is written", async () => {
  await guess("::ffff:203.0.113.10");
  for (const address of ["203.0.113.10", "::ffff:cb00:710a", "::FFFF:203.0.113.10"]) {
    expect([address, (await doors[0](from(address))).status]).toEqual([address, 429]);
  }
  expect((await doors[0](from("::ffff:203.0.113.11"))).status).toBe(401);
});
