import { ApiError } from "../../base/errors.ts";
import { createOutputBuffer, readCursor, streamStarted } from "../../runs/index.ts";
import { credentialId } from "../authentication/index.ts";
import { basePathOf } from "../base-path.ts";
import { headerOf, type RequestContext } from "../request/index.ts";
import type { Services } from "../services.ts";
import { seqOf } from "../streams/index.ts";
import type { AdmittedCredentials } from "./admitted-credentials.ts";
import { cookieOf } from "./authenticate-member.ts";
import { admitCaller, type StartHead, startFromRequest } from "./start-from-request.ts";

/**
 * Starts a run and streams its events from the first one. Errors that occur before the stream
 * begins are sent as JSON. A repeated request with the same Idempotency-Key starts no run: it
 * streams the events of the first request's run after the event that `Last-Event-ID` names.
 * @throws ApiError those of a start; `bad_request` if `Last-Event-ID` is not the id of an event, or
 *   comes without an Idempotency-Key
 */
export async function streamInvoked(
  services: Services,
  admitted: AdmittedCredentials,
  c: RequestContext,
  head: StartHead,
): Promise<Response> {
  const { session, credentialKind: kind } = head;
  const { caller, workspaceId } = await admitCaller(services, admitted, c, head);
  const id = session?.id ?? (caller.kind === "credential" ? credentialId(caller.hash) : "");
  const lastEventId = headerOf(c.env.incoming, "last-event-id");
  const output = createOutputBuffer();
  const slot = services.streams.takeSlot({ id, workspaceId });
  try {
    const run = await startFromRequest(services, admitted, c, {
      ...head,
      output,
      // The cursor is checked together with the body, so that an invalid cursor is reported only if
      // the credential is valid.
      payloadOf: (bytes) => {
        if (readCursor(lastEventId) > 0 && head.key === undefined) throw withoutKey();
        return head.payloadOf(bytes);
      },
    });
    const headers = {
      location: `${basePathOf(services)}/api/public/runs/${run.runId}`,
      ...cookieOf(head),
      ...(run.replayed ? { "idempotency-replayed": "true" } : {}),
    };
    const stream = await streamStarted(services.runs, run, { lastEventId, output });
    if (stream === undefined) return new Response(null, { status: 204, headers });
    const held = {
      kind,
      id,
      workspaceId: run.workspaceId,
      scope: "agents:invoke",
      agentIds: [run.agentId],
    } as const;
    return slot.respond(c, { ...stream, idOf: seqOf }, held, headers);
  } finally {
    slot.release();
  }
}

/** The error of a request to resume a stream that would start another run instead. */
function withoutKey(): ApiError {
  return new ApiError(
    "bad_request",
    "Last-Event-ID without an Idempotency-Key would start another run. To resume a stream, repeat " +
      "the request with its Idempotency-Key, or read GET /api/public/runs/:run_id/events.",
  );
}
