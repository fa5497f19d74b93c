import type { IncomingMessage } from "node:http";
import type { ByteHold } from "../../base/byte-budget.ts";
import { ApiError, attempt, type Result } from "../../base/errors.ts";
import type { StreamCredential } from "../../credentials/index.ts";
import {
  type Caller,
  type RunCallback,
  type RunLabels,
  type Started,
  type StartRequest,
  startRun,
} from "../../runs/index.ts";
import { presentedKind, unauthorized } from "../authentication/index.ts";
import {
  headerOf,
  type RawBody,
  type RequestContext,
  readBody,
  reportOf,
  startContent,
} from "../request/index.ts";
import type { Services } from "../services.ts";
import type { AdmittedCredentials } from "./admitted-credentials.ts";

/** The parts of a request to start a run that are known before its body is read. */
export interface StartHead
  extends Pick<StartRequest, "source" | "agentId" | "output" | "receivingVersion"> {
  /**
   * Undefined if the credential is missing or malformed. The request is then rejected without a
   * query.
   */
  readonly caller: Caller | undefined;
  /**
   * Kind of the caller's credential; `session` also if the request has none, because only a session
   * authenticates a request without `x-api-key`.
   */
  readonly credentialKind: StreamCredential["kind"];
  /**
   * The session of the caller and the cookies to set in the response; absent for a key, a token or
   * a trigger.
   */
  readonly session?: { readonly id: string; readonly cookies: readonly string[] };
  /**
   * Checks the caller's session and role again, because they can have been revoked while the rest
   * of the body arrived. Absent if the body arrived with the headers, and for a key or token: the
   * statement that starts the run (`start-statement.ts`) checks these.
   */
  readonly checkAgain?: () => Promise<void>;
  readonly key: Result<string> | undefined;
  readonly labels: Result<RunLabels | undefined>;
  readonly callback: Result<RunCallback | undefined>;
  /** Converts the raw body to the run's payload. @throws ApiError if the body is not valid */
  readonly payloadOf: (bytes: Buffer) => string;
  readonly contentType: string | undefined;
}

/** The caller of a request, and the id of its workspace. */
interface AdmittedCaller {
  readonly caller: Caller;
  readonly workspaceId: string;
}

/**
 * Checks the credential, so that the body of a request is read only if its credential is valid.
 * Credentials that were valid at an earlier request are not queried here: the statement that starts
 * the run checks every credential again.
 * @throws ApiError `unauthorized`, `forbidden`, `not_found`; `unavailable` if the database does not
 *   reply in time
 */
export async function admitCaller(
  services: Services,
  admitted: AdmittedCredentials,
  { env: { incoming } }: RequestContext,
  { source, caller, agentId }: StartHead,
): Promise<AdmittedCaller> {
  if (caller === undefined) throw unauthorizedInvoke(services, incoming);
  try {
    return { caller, workspaceId: await admitted.workspaceOf({ source, caller, agentId }) };
  } catch (thrown) {
    throw isUnauthorized(thrown) ? unauthorizedInvoke(services, incoming) : thrown;
  }
}

/**
 * Checks the credential, reads the body, and starts the run. Records the use of a key.
 * @throws ApiError the errors of `admitCaller`; then `unavailable` if the process cannot hold the
 *   body, and the errors of `checkAgain`; then those of `startRun`, in the order described there.
 */
export async function startFromRequest(
  services: Services,
  admitted: AdmittedCredentials,
  c: RequestContext,
  head: StartHead,
): Promise<Started> {
  const { incoming } = c.env;
  const { caller, workspaceId } = await admitCaller(services, admitted, c, head);
  let hold: ByteHold | undefined;
  try {
    const body = await readBody(incoming, () => {
      hold ??= services.runs.memory.exchanges.hold(workspaceId);
      return hold;
    });
    await head.checkAgain?.();
    const { trace } = reportOf(incoming);
    const run = await startRun(services.runs, { ...toStart(head, caller, body), trace });
    const credential = headerOf(incoming, "x-api-key");
    if (head.credentialKind === "key" && credential !== undefined)
      services.keyUse.note({ workspaceId: run.workspaceId, credential });
    return run;
  } catch (thrown) {
    if (!isUnauthorized(thrown)) throw thrown;
    admitted.forget(caller);
    throw unauthorizedInvoke(services, incoming);
  } finally {
    hold?.release();
  }
}

function unauthorizedInvoke(services: Services, incoming: IncomingMessage): ApiError {
  return unauthorized(services, incoming, presentedKind(services, incoming), true);
}

function isUnauthorized(thrown: unknown): boolean {
  return thrown instanceof ApiError && thrown.code === "unauthorized";
}

/** Returns the request to start a run of an agent or a trigger. */
export function toStart(
  head: Omit<StartHead, "caller" | "credentialKind">,
  caller: Caller,
  body: RawBody,
): StartRequest {
  const { source, agentId, contentType = null, output, receivingVersion } = head;
  return {
    ...{ source, caller, agentId, contentType, output, receivingVersion },
    ...startContent(head, {
      payload: () => (body.ok ? attempt(() => head.payloadOf(body.value)) : body),
      bytes: () => body,
    }),
  };
}
