import { invokeBody } from "@beckon/contract";
import { z } from "zod";
import { ApiError, attempt, type Result } from "../../base/errors.ts";
import { parseJson } from "../../base/json/index.ts";
import { parse, parseQuery } from "../../base/parse.ts";
import { hashCredential, isCredential } from "../../base/secrets/index.ts";
import type { Outcome } from "../../engine/index.ts";
import { hasKeyFormat } from "../../keys/index.ts";
import { secondsToReset } from "../../reservations/index.ts";
import { readLabels, readStatus, type Started, waitForRun } from "../../runs/index.ts";
import { kindOfCredential } from "../authentication/index.ts";
import { basePathOf } from "../base-path.ts";
import { errorBody, messageFor, statusOfCode } from "../errors.ts";
import {
  bodyText,
  clientGoneSignal,
  countResponse,
  headerOf,
  holdExchange,
  idempotencyKey,
  pathParameter,
  type RequestContext,
  requestIdOf,
} from "../request/index.ts";
import type { Services } from "../services.ts";
import { acceptsStream } from "../streams/index.ts";
import type { AdmittedCredentials } from "./admitted-credentials.ts";
import { authenticateMember, cookieOf } from "./authenticate-member.ts";
import { ignoredFields, ignoredFieldsHeader } from "./ignored-fields.ts";
import { applied, type Preference, readPrefer } from "./prefer.ts";
import { readCallback } from "./read-callback.ts";
import { type StartHead, startFromRequest } from "./start-from-request.ts";
import { streamInvoked } from "./stream-invoked.ts";

const bodyFields = Object.keys(invokeBody.shape);
const noParameters = z.strictObject({});

/**
 * Handles `POST /api/public/agents/:agent_id/invoke`: starts a run and responds when the run ends,
 * or earlier if the `Prefer` header requests it or this process stops. Streams the run's events to
 * clients that accept `text/event-stream`.
 */
export async function handleInvoke(
  services: Services,
  admitted: AdmittedCredentials,
  c: RequestContext,
): Promise<Response> {
  const { incoming, outgoing } = c.env;
  const credential = headerOf(incoming, "x-api-key");
  const preference = readPrefer(headerOf(incoming, "prefer"));
  const query = checkQuery(c);
  const head: StartHead = {
    source: "invoke",
    ...(credential === undefined
      ? await authenticateMember(services, incoming)
      : callerWith(credential)),
    agentId: pathParameter(c, "agent_id"),
    key: idempotencyKey(headerOf(incoming, "idempotency-key")),
    // An error in the query takes the place of the labels, so that it also rejects a repeat with
    // the same Idempotency-Key: with `?after=` it would get events that its caller does not expect.
    labels: query.ok ? readLabels((name) => headerOf(incoming, name)) : query,
    callback: readCallback(incoming),
    payloadOf: (bytes) => {
      const body = parseJson(bodyText(incoming, bytes));
      const ignored = ignoredFields(body, bodyFields);
      // Set on Node's response, so that error responses have the header too: a caller who sends
      // `inputs` gets the error that `input` is missing, and the header names `inputs` as ignored.
      if (ignored !== undefined) outgoing.setHeader(ignoredFieldsHeader, ignored);
      return parse(invokeBody, body).input;
    },
    contentType: headerOf(incoming, "content-type"),
  };
  if (acceptsStream(headerOf(incoming, "accept")))
    return streamInvoked(services, admitted, c, head);
  const run = await startFromRequest(services, admitted, c, head);
  const headers: Record<string, string> = { "content-type": "application/json", ...cookieOf(head) };
  if (run.replayed) headers["idempotency-replayed"] = "true";
  const preferenceApplied = applied(preference);
  if (preferenceApplied !== undefined) headers["preference-applied"] = preferenceApplied;
  const noWait = preference.respondAsync && preference.wait === undefined;
  const outcome = noWait
    ? undefined
    : await waitForRun(services.runs, run, waitSignal(c, preference));
  return outcome === undefined
    ? accepted(services, run, headers)
    : ended(services, c, run, outcome, headers);
}

/** Returns the error of a query that is not empty: an invoke has no query parameters. */
function checkQuery(c: RequestContext): Result<unknown> {
  const result = attempt(() => parseQuery(noParameters, c.req.query()));
  if (result.ok) return result;
  const advice =
    "To limit how long the response waits, send the header Prefer. To resume a stream, repeat the " +
    "request with its Idempotency-Key and Last-Event-ID.";
  return { ok: false, error: new ApiError("bad_request", `${result.error.message} ${advice}`) };
}

/** Returns the caller with a credential in `x-api-key`, which the start statement checks. */
function callerWith(credential: string): Pick<StartHead, "caller" | "credentialKind"> {
  const credentialKind = kindOfCredential(credential);
  const isWellFormed =
    credentialKind === "token" ? isCredential("bka_", credential) : hasKeyFormat(credential);
  return {
    caller: isWellFormed ? { kind: "credential", hash: hashCredential(credential) } : undefined,
    credentialKind,
  };
}

async function accepted(
  services: Services,
  run: Started,
  headers: Record<string, string>,
): Promise<Response> {
  const body = { ok: true, run_id: run.runId, status: await readStatus(services.runs, run) };
  return new Response(JSON.stringify(body), {
    status: 202,
    headers: { ...headers, location: `${basePathOf(services)}/api/public/runs/${run.runId}` },
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
    const error = countResponse(
      text.length,
      () => holdExchange(runs.memory.exchanges, workspaceId, outgoing),
      outgoing,
      `The run has succeeded: read its output with GET /api/public/runs/${runId} or, if that is too large, from the artifact that its final event names: GET /api/public/runs/${runId}/events.`,
    );
    if (error === undefined) return new Response(text, { status: 200, headers });
    const message = messageFor(error, requestIdOf(outgoing));
    const body = errorBody({ message, code: error.code, runId });
    return new Response(JSON.stringify(body), { status: statusOfCode(error.code), headers });
  }
  const { error, limit } = { limit: undefined, ...outcome };
  const body = errorBody({ message: error.message, code: error.code, runId, limit });
  // A run that waited for a limit until its deadline need not wait for the reset.
  const isReached = error.code !== "deadline_exceeded";
  const retryAfter = isReached && limit !== undefined ? secondsToReset(limit) : undefined;
  return new Response(JSON.stringify(body), {
    status: 500,
    headers: {
      ...headers,
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
    },
  });
}

/**
 * Returns a signal that aborts when the client disconnects or `wait` seconds have passed. The run
 * continues in both cases.
 */
function waitSignal(c: RequestContext, { wait }: Preference): AbortSignal {
  return clientGoneSignal(c.env.outgoing, wait === undefined ? undefined : wait * 1_000);
}
