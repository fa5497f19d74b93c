import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { visitor } from "../../test/people.ts";

const beckon = await startTestBeckon({ BECKON_TRUST_PROXY: "1" });
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);

/**
 * Returns the header with which a request comes from this address. Each test uses its own address,
 * because failures are counted by address.
 */
const from = (address: string) => ({ "x-forwarded-for": address });
const endpoints = [
  (headers: Record<string, string>) => beckon.call("/agents", { credential: "wrong", headers }),
  (headers: Record<string, string>) =>
    beckon.invoke({ id: agent.id, token: "bka_wrong" }, "Hello", headers),
  (headers: Record<string, string>) =>
    beckon.call("/triggers/bkt_wrong", { credential: null, body: "Hello", headers }),
] as const;

async function guess(address: string): Promise<void> {
  for (let round = 0; round < 10; round++) {
    await Promise.all(
      Array.from({ length: 31 }, (_, index) => endpoints[(index % 3) as 0 | 1 | 2](from(address))),
    );
  }
}

test("a caller that guesses at any entry point is soon rate limited at all of them", async () => {
  await guess("203.0.113.1");
  for (const endpoint of endpoints) {
    const answer = await endpoint(from("203.0.113.1"));
    expectError(answer, 429, "too_many_requests");
    const wait = Number(answer.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
  }
});

test("valid callers at the same address are served", async () => {
  await guess("203.0.113.2");
  const headers = from("203.0.113.2");
  const answers = await Promise.all([
    beckon.call("/agents", { headers }),
    beckon.invoke(agent, "Hello", headers),
    beckon.call(trigger.url, { credential: null, body: "Hello", headers }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test("a browser at the same address learns that its session has ended", async () => {
  const { call } = visitor(beckon, "beckon.session_token=ended");
  await guess("203.0.113.12");
  const headers = from("203.0.113.12");
  for (const path of ["/me", "/agents"])
    expectError(await call(path, { headers }), 401, "unauthorized");
});

test("guesses do not slow down another address", async () => {
  await guess("203.0.113.3");
  const answers = await Promise.all(endpoints.map((endpoint) => endpoint(from("203.0.113.4"))));
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
});

test("an address that a caller adds in front of the proxy's own is ignored", async () => {
  await guess("198.51.100.9, 203.0.113.5");
  expect((await endpoints[0](from("198.51.100.10, 203.0.113.5"))).status).toBe(429);
});

test("a few mistakes get the normal error", async () => {
  for (let round = 0; round < 20; round++)
    expect((await endpoints[0](from("203.0.113.6"))).status).toBe(401);
});

test("a rate limited page of another origin can read the error", async () => {
  await guess("203.0.113.7");
  expect((await endpoints[2](from("203.0.113.7"))).headers.get("access-control-allow-origin")).toBe(
    "*",
  );
});

test("each failure says how many more are allowed until when, and the last that none are", async () => {
  const address = "203.0.113.8";
  for (const [index, endpoint] of endpoints.entries()) {
    const { headers } = await endpoint(from(address));
    expect(headers.get("ratelimit-policy")).toBe('"failed-authentications";q=300;w=60');
    expect(headers.get("ratelimit")).toMatch(
      new RegExp(`^"failed-authentications";r=${299 - index};t=([1-9]|[1-5]\\d|60)$`),
    );
  }
  await guess(address);
  for (const endpoint of endpoints) {
    const { headers } = await endpoint(from(address));
    expect(headers.get("ratelimit")).toBe(
      `"failed-authentications";r=0;t=${headers.get("retry-after")}`,
    );
  }
});

test("a valid caller gets no limit headers, also at the address of a caller that guesses", async () => {
  await guess("203.0.113.9");
  const { headers } = await beckon.call("/agents", { headers: from("203.0.113.9") });
  expect([
    headers.get("ratelimit-policy"),
    headers.get("ratelimit"),
    headers.get("retry-after"),
  ]).toEqual([null, null, null]);
});

/**
 * Returns a function that returns different addresses of one /64 network. Each test uses its own
 * network.
 */
const inNetwork = (network: string) => (index: number) =>
  `2001:db8:0:${network}:${index.toString(16)}::${index.toString(16)}`;

test("a caller that guesses from many addresses of one IPv6 network is rate limited, and another network is not", async () => {
  const address = inNetwork("a");
  for (let round = 0; round < 10; round++) {
    await Promise.all(
      Array.from({ length: 31 }, (_, index) => endpoints[0](from(address(31 * round + index)))),
    );
  }
  expect((await endpoints[0](from(address(1_000)))).status).toBe(429);
  expect((await endpoints[0](from("2001:DB8:0:A:ffff:ffff:ffff:ffff"))).status).toBe(429);
  expect((await endpoints[0](from("2001:db8:0:b::1"))).status).toBe(401);
});

test("passwords guessed from many addresses of one IPv6 network are counted together", async () => {
  const address = inNetwork("c");
  const body = {
    email: "nobody@example.com",
    password: "guessed",
    workspace_id: "wsp_00000000000000000000000000",
  };
  const attempt = (headers: Record<string, string>) =>
    beckon.call("/sign-in", { credential: null, body, headers });
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => attempt(from(address(10 * round + index)))),
    );
  }
  expect((await attempt(from(address(1_000)))).status).toBe(429);
  expect((await attempt(from("2001:db8:0:d::1"))).status).toBe(401);
});

test("an IPv4 address counts as itself in every notation", async () => {
  await guess("::ffff:203.0.113.10");
  for (const address of ["203.0.113.10", "::ffff:cb00:710a", "::FFFF:203.0.113.10"]) {
    expect([address, (await endpoints[0](from(address))).status]).toEqual([address, 429]);
  }
  expect((await endpoints[0](from("::ffff:203.0.113.11"))).status).toBe(401);
});
