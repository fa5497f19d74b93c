import { invokeBody } from "@beckon/contract";
import { parse } from "../../base/parse.ts";
import { hashCredential, isCredential } from "../../base/secrets/index.ts";
import type { Outcome } from "../../engine/index.ts";
import { hasKeyFormat } from "../../keys/index.ts";
import { readStatus, type Started, waitForRun } from "../../runs/index.ts";
import {
  canSend,
  clientGoneSignal,
  headerOf,
  holdExchange,
  idempotencyKey,
  jsonOf,
  pathMember,
  type RequestContext,
  textOf,
  tooManyResponses,
} from "../request/index.ts";
import type { Services } from "../services.ts";
import { acceptsStream } from "../streams/index.ts";
import type { AdmittedCredentials } from "./admitted-credentials.ts";
import { authenticateMember, cookieOf } from "./authenticate-member.ts";
import { applied, type Preference, readPrefer } from "./prefer.ts";
import { type StartHead, startFromRequest } from "./start-from-request.ts";
import { streamInvoked } from "./stream-invoked.ts";

/** `POST /api/public/agents/:agent_id/invoke`: starts a run and waits for its answer, as long as the caller prefers to. */
export async function handleInvoke(
  services: Services,
  hints: AdmittedCredentials,
  c: RequestContext,
): Promise<Response> {
  const { incoming } = c.env;
  const credential = headerOf(incoming, "x-api-key");
  const wellFormed =
    credential !== undefined && (isCredential("bka_", credential) || hasKeyFormat(credential));
  const preference = readPrefer(headerOf(incoming, "prefer"));
  const head: StartHead = {
    source: "invoke",
    caller: wellFormed ? { kind: "credential", hash: hashCredential(credential) } : undefined,
    ...(credential === undefined ? await authenticateMember(services, incoming) : {}),
    agentId: pathMember(c, "agent_id"),
    key: idempotencyKey(headerOf(incoming, "idempotency-key")),
    payloadOf: (bytes) => parse(invokeBody, jsonOf(textOf(bytes))).input,
    contentType: headerOf(incoming, "content-type"),
  };
  if (acceptsStream(headerOf(incoming, "accept"))) return streamInvoked(services, hints, c, head);
  const run = await startFromRequest(services, hints, c, head);
  if (credential !== undefined && hasKeyFormat(credential))
    services.keyUse.note({ workspaceId: run.workspaceId, credential });
  const headers: Record<string, string> = { "content-type": "application/json", ...cookieOf(head) };
  if (run.replayed) headers["idempotency-replayed"] = "true";
  const honoured = applied(preference);
  if (honoured !== undefined) headers["preference-applied"] = honoured;
  const noWait = preference.respondAsync && preference.wait === undefined;
  const outcome = noWait
    ? undefined
    : await waitForRun(services.runs, run, patience(c, preference));
  return outcome === undefined
    ? accepted(services, run, headers)
    : ended(services, c, run, outcome, headers);
}

async function accepted(
  services: Services,
  run: Started,
  headers: Record<string, string>,
): Promise<Response> {
  const body = { ok: true, run_id: run.runId, status: await readStatus(services.runs, run) };
  return new Response(JSON.stringify(body), {
    status: 202,
    headers: { ...headers, location: `/api/public/runs/${run.runId}` },
  });
}

function ended(
  { runs }: Services,
  { env: { outgoing } }: RequestContext,
  { runId, workspaceId }: Started,
  outcome: Outcome,
  headers: Record<string, string>,
): Response {
  if (outcome.status === "succeeded") {
    const text = JSON.stringify({ ok: true, run_id: runId, output: outcome.output });
    if (canSend(text, () => holdExchange(runs.memory.exchanges, workspaceId, outgoing), outgoing)) {
      return new Response(text, { status: 200, headers });
    }
    const { message, code, retryAfter } = tooManyResponses(
      `The run has succeeded: read its output with GET /api/public/runs/${runId}.`,
    );
    const body = { ok: false, error: message, code, run_id: runId };
    return new Response(JSON.stringify(body), {
      status: 503,
      headers: { ...headers, "retry-after": String(retryAfter) },
    });
  }
  const body = { ok: false, error: outcome.error.message, code: outcome.error.code, run_id: runId };
  return new Response(JSON.stringify(body), { status: 500, headers });
}

/** Waiting ends with the caller's patience, or with the caller; the run goes on either way. */
function patience(c: RequestContext, { wait }: Preference): AbortSignal {
  return clientGoneSignal(c.env.outgoing, wait === undefined ? undefined : wait * 1_000);
}
