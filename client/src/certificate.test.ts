import { expect, test } from "vitest";
import { createClient } from "./client.ts";
import { isCertificateError } from "./retry.ts";

/** Returns a client whose requests fail with a code of Node.js, and the number of requests. */
function failsWith(code: string, retries?: number) {
  let requests = 0;
  const fetch = async () => {
    requests++;
    const cause = Object.assign(new Error(code), { code });
    throw new TypeError("fetch failed", { cause });
  };
  const client = createClient({ url: "https://beckon.example.com", fetch, retries });
  return { ...client, requests: () => requests };
}

const notStarted = {
  code: "no_answer",
  idempotencyKey: undefined,
  message: expect.not.stringContaining("not known"),
};

const untrusted = [
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID",
];

test.each(untrusted)("%s ends an invoke at once, and no run was started", async (code) => {
  const { agents, requests } = failsWith(code);
  const failure = await agents.invoke("agt_1", { input: "Hello" }).catch((thrown) => thrown);
  expect(failure).toMatchObject(notStarted);
  expect([isCertificateError(failure), requests()]).toEqual([true, 1]);
});

test.each(untrusted)("%s ends a watch at once", async (code) => {
  const { events, requests } = failsWith(code);
  await expect(events.watch().next()).rejects.toSatisfy(isCertificateError);
  expect(requests()).toBe(1);
});

test("a connection that is not made in time is repeated, and no run was started", async () => {
  const { agents, requests } = failsWith("UND_ERR_CONNECT_TIMEOUT", 1);
  await expect(agents.invoke("agt_1", { input: "Hello" })).rejects.toMatchObject(notStarted);
  expect(requests()).toBe(2);
});
