import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { type Certificate, createAuthority, selfSigned } from "../server/test/certificates.ts";
import { testDatabase } from "../server/test/database.ts";
import { databaseAt } from "../server/test/database-url.ts";
import { eventually } from "../server/test/eventually.ts";
import { caller } from "./call.ts";
import { freePort, startProduct, temporaryFolder } from "./product.ts";

/**
 * Deliveries to TLS servers with good and bad certificates. With NODE_EXTRA_CA_CERTS, Beckon also
 * trusts the certificate authority of this test. Otherwise it would reject every certificate here
 * because of an unknown authority, and the other errors would not be tested.
 */
const authority = createAuthority();
const receivers = {
  good: await startTlsReceiver(authority.issue()),
  selfSigned: await startTlsReceiver(selfSigned()),
  unknownAuthority: await startTlsReceiver(createAuthority().issue()),
  expired: await startTlsReceiver(authority.issue({ days: -1 })),
  otherHost: await startTlsReceiver(authority.issue({ host: "receiver.example" })),
};
afterAll(() => Promise.all(Object.values(receivers).map((receiver) => receiver.close())));

const { name } = await testDatabase({ empty: true });
const folder = temporaryFolder();
const authorityFile = join(folder, "authority.pem");
writeFileSync(authorityFile, authority.cert);
const key = `bootstrap_${randomBytes(24).toString("base64url")}`;
const product = await startProduct({
  DATABASE_URL: databaseAt(inject("server").adminUrl, name),
  BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
  BECKON_BOOTSTRAP_KEY: key,
  BECKON_DATA_DIR: join(folder, "data"),
  BECKON_EGRESS_ALLOW: Object.values(receivers)
    .map(({ url }) => new URL(url).host)
    .join(),
  // The first attempt is the only one.
  BECKON_RETRY_SCHEDULE: "0",
  NODE_EXTRA_CA_CERTS: authorityFile,
  PORT: String(await freePort()),
});
// Stops the server before the test's database is deleted.
afterAll(() => product.stop());
const call = caller(
  () => product.url,
  () => key,
);

/** Starts an HTTPS server that accepts every request and counts them. */
async function startTlsReceiver(certificate: Certificate) {
  let requests = 0;
  const server = createServer(certificate, (request, response) => {
    requests += 1;
    request.resume().on("end", () => response.writeHead(204).end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    requests: () => requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Delivers an event to the receiver, and returns the delivery with its attempts. */
async function deliverTo({ url }: { readonly url: string }) {
  const created = await call("/subscriptions", { body: { url, event_types: ["run.finished"] } });
  expect(created.status).toBe(201);
  const path = `/subscriptions/${created.body.data.id}`;
  const sent = await call(`${path}/test`, { method: "POST" });
  return eventually("the end of the delivery", async () => {
    const { body } = await call(`${path}/deliveries/${sent.body.data.id}`);
    return body.data.status === "pending" ? undefined : body.data;
  });
}

test("a receiver with a certificate of a trusted authority gets deliveries", async () => {
  expect(await deliverTo(receivers.good)).toMatchObject({
    status: "succeeded",
    attempts_log: [{ status: 204, error: null }],
  });
  expect(receivers.good.requests()).toBe(1);
});

test.each([
  ["that signed its certificate itself", "selfSigned", /is not signed by a trusted authority/],
  ["of an unknown authority", "unknownAuthority", /is not signed by a trusted authority/],
  ["whose certificate has expired", "expired", /certificate has expired/],
  ["whose certificate is for another host", "otherHost", /certificate is for another host/],
] as const)("a receiver %s gets no request, and the attempt fails", async (_what, which, error) => {
  const receiver = receivers[which];
  expect(await deliverTo(receiver)).toMatchObject({
    status: "failed",
    attempts: 1,
    last_status: null,
    last_error: expect.stringMatching(error),
    attempts_log: [{ status: null, error: expect.stringMatching(error) }],
  });
  expect(receiver.requests()).toBe(0);
});
