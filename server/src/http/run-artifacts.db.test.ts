import { expect, test } from "vitest";
import { type CallOptions, startTestBeckon } from "../../test/beckon.ts";
import { captureLog } from "../../test/capture-log.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { rawExchange } from "../../test/raw-exchange.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";
import { newId } from "../base/ids.ts";

const { log, named } = captureLog();
const beckon = await startTestBeckon({}, { log });
const { engine } = beckon.db.database;

/** Runs an agent whose output is too long for an event and is therefore stored as an artifact. */
async function runWithArtifact(agent?: { id: string; token: string }) {
  const invoked = agent ?? (await beckon.createAgent());
  const { body } = await beckon.invoke(invoked, "ä".repeat(40_000));
  const runId = body.run_id as string;
  const { data: events } = (await beckon.call(`/runs/${runId}/events`)).body;
  const reference = events.find((event: { type: string }) => event.type === "run.step").data;
  return { agent: invoked, runId, artifactId: reference.artifact_id as string, reference };
}

/** Adds an artifact with any media type and content to a run. */
async function addArtifact(runId: string, mediaType: string, content: Buffer): Promise<string> {
  const id = newId("art");
  await engine.query(
    `insert into artifacts (id, workspace_id, run_id, media_type, content)
      select $1, workspace_id, id, $2, $3 from runs where id = $4`,
    [id, mediaType, content, runId],
  );
  return id;
}

const read = (runId: string, artifactId: string, options?: CallOptions) =>
  beckon.call(`/runs/${runId}/artifacts/${artifactId}`, options);
/** Returns the response with its body as bytes. */
const bytesOf = async (runId: string, artifactId: string, method = "GET") => {
  const response = await fetch(`${beckon.url}/api/public/runs/${runId}/artifacts/${artifactId}`, {
    method,
    headers: { "x-api-key": beckon.key },
  });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

test("the data of a large event is read as an artifact, with the size that the event names", async () => {
  const { runId, artifactId, reference } = await runWithArtifact();
  const { response, bytes } = await bytesOf(runId, artifactId);
  expect(response.status).toBe(200);
  expect(JSON.parse(bytes.toString()).parts[0].text === "ä".repeat(40_000)).toBe(true);
  expect(bytes.length).toBe(reference.bytes);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/json",
    "content-length": String(reference.bytes),
    "content-disposition": `attachment; filename="${artifactId}.json"`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
  });
});

test("HEAD responds with the same headers and without content", async () => {
  const { runId, artifactId, reference } = await runWithArtifact();
  const { response, bytes } = await bytesOf(runId, artifactId, "HEAD");
  expect([response.status, bytes.length]).toEqual([200, 0]);
  expect(response.headers.get("content-length")).toBe(String(reference.bytes));
  expect(response.headers.get("content-type")).toBe("application/json");
});

test.each([
  ["text/plain", "text/plain; charset=utf-8", "txt"],
  ["TEXT/PLAIN; charset=latin1", "text/plain; charset=utf-8", "txt"],
  ["image/png", "image/png", "png"],
  ["image/svg+xml", "application/octet-stream", "bin"],
  ["text/html", "application/octet-stream", "bin"],
  ["application/json\r\nset-cookie: a=b", "application/octet-stream", "bin"],
  ["", "application/octet-stream", "bin"],
  ["constructor", "application/octet-stream", "bin"],
])("an artifact stored as %j is sent as %s", async (stored, sent, extension) => {
  const { runId } = await runWithArtifact();
  const id = await addArtifact(runId, stored, Buffer.from("<script>alert(1)</script>"));
  const { response } = await bytesOf(runId, id);
  expect(response.headers.get("content-type")).toBe(sent);
  expect(response.headers.get("content-disposition")).toBe(
    `attachment; filename="${id}.${extension}"`,
  );
  expect(response.headers.has("set-cookie")).toBe(false);
});

test("an artifact of several parts arrives complete, and an empty one is empty", async () => {
  const { runId } = await runWithArtifact();
  const content = Buffer.alloc(3 * 1024 * 1024 + 17, "0123456789abcdef-");
  const large = await bytesOf(runId, await addArtifact(runId, "image/png", content));
  expect(large.bytes.equals(content)).toBe(true);
  const empty = await bytesOf(runId, await addArtifact(runId, "image/png", Buffer.alloc(0)));
  expect([empty.response.status, empty.bytes.length]).toEqual([200, 0]);
});

test("a client that disconnects does not prevent the next download", async () => {
  const { runId } = await runWithArtifact();
  const id = await addArtifact(runId, "image/png", Buffer.alloc(8 * 1024 * 1024));
  const leaving = new AbortController();
  const response = await fetch(`${beckon.url}/api/public/runs/${runId}/artifacts/${id}`, {
    headers: { "x-api-key": beckon.key },
    signal: leaving.signal,
  });
  await response.body?.getReader().read();
  leaving.abort();
  await eventually("another read", async () =>
    (await bytesOf(runId, id)).bytes.length === 8 * 1024 * 1024 ? true : undefined,
  );
});

test("a download whose artifact is deleted is visibly truncated, and the log says why", async () => {
  const { runId } = await runWithArtifact();
  const id = await addArtifact(runId, "image/png", Buffer.alloc(32 * 1024 * 1024));
  const response = await fetch(`${beckon.url}/api/public/runs/${runId}/artifacts/${id}`, {
    headers: { "x-api-key": beckon.key },
  });
  const reader = response.body?.getReader();
  await reader?.read();
  expect((await beckon.call(`/runs/${runId}`, { method: "DELETE" })).status).toBe(204);
  const rest = async () => {
    while ((await reader?.read())?.done === false);
  };
  await expect(rest()).rejects.toThrow();
  expect(named("a request failed because of an internal error")).toMatchObject([
    {
      request_id: response.headers.get("beckon-request-id"),
      route: "/api/public/runs/:run_id/artifacts/:artifact_id",
      reason: `artifact ${id} was deleted`,
    },
  ]);
});

test("an artifact is found only below its own run", async () => {
  const { artifactId, runId } = await runWithArtifact();
  const other = await runWithArtifact();
  expectError(await read(other.runId, artifactId), 404, "not_found");
  expectError(await read(runId, "none"), 404, "not_found");
  expectError(await read("none", artifactId), 404, "not_found");
});

test("who can read a run can read its artifacts, and nobody else", async () => {
  const { agent, runId, artifactId } = await runWithArtifact();
  const statusFor = async (credential: string | null) =>
    (await read(runId, artifactId, { credential })).status;
  const other = await beckon.createAgent();
  expect(await statusFor(agent.token)).toBe(200);
  expect(await statusFor(await insertKey(beckon, { scopes: ["runs:read"] }))).toBe(200);
  expect(
    await statusFor(await insertKey(beckon, { scopes: ["runs:read"], agentIds: [agent.id] })),
  ).toBe(200);
  expect(
    await statusFor(await insertKey(beckon, { scopes: ["runs:read"], agentIds: [other.id] })),
  ).toBe(404);
  expect(await statusFor(other.token)).toBe(404);
  expect(await statusFor(await insertKey(beckon, { scopes: ["agents:read"] }))).toBe(403);
  expect(await statusFor(await insertStranger(beckon))).toBe(404);
  expect(await statusFor(null)).toBe(401);
});

test("a path with encoded characters leads to no artifact", async () => {
  const { runId } = await runWithArtifact();
  const { answers } = await rawExchange(
    beckon.url,
    Buffer.from(
      `GET /api/public/runs/${runId}/artifacts/%0d%0aa HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${beckon.key}\r\nconnection: close\r\n\r\n`,
    ),
  );
  expect(answers.map(({ status }) => Math.floor(status / 100))).toEqual([4]);
});
