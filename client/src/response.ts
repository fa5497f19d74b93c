import { BeckonError, type BeckonErrorInit, truncated } from "./error.ts";
import type { ErrorAnswer } from "./generated/schemas.ts";

/** Returns the response if it succeeded. @throws BeckonError for redirects and errors */
export async function ensureOk(response: Response, operation: string): Promise<Response> {
  if (response.ok) return response;
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    const origin = redirectOrigin(response);
    throw new BeckonError({
      code: "unexpected_answer",
      status: response.status,
      message:
        `${operation} was redirected${origin && ` to ${origin}`}, and the client does not send ` +
        "credentials elsewhere. " +
        (origin
          ? "Use this origin in the address."
          : "Check the url and the proxies in front of it."),
    });
  }
  const { status } = response;
  const retryAfter = parseRetryAfter(response.headers.get("retry-after"));
  const text = await response.text();
  const { error: message, code, run_id: runId, limit } = parseError(text);
  if (message !== undefined && code !== undefined) {
    const requestId = requestIdOf(response);
    throw new BeckonError({ code, message, status, runId, retryAfter, limit, requestId });
  }
  throw unexpectedResponse(response, operation, { retryAfter });
}

/**
 * Returns the other origin to which a response redirects; empty if there is none, or in browsers,
 * which do not say it. The path is left out: that of a trigger is a secret.
 */
function redirectOrigin({ headers, url }: Response): string {
  const location = headers.get("location");
  if (location === null || !URL.canParse(location, url)) return "";
  const { origin } = new URL(location, url);
  return origin === new URL(url).origin ? "" : origin;
}

function parseError(text: string): Partial<ErrorAnswer> {
  try {
    const body = JSON.parse(text) as Partial<ErrorAnswer> | null;
    return body?.ok === false ? body : {};
  } catch {
    return {};
  }
}

/** Returns the error for a response that does not come from Beckon, for example from a proxy. */
export function unexpectedResponse(
  response: Response,
  operation: string,
  { retryAfter, cause }: Pick<BeckonErrorInit, "retryAfter" | "cause"> = {},
): BeckonError {
  const { status, headers } = response;
  const type = headers.get("content-type") ?? "no content type";
  return new BeckonError({
    code: "unexpected_answer",
    status,
    retryAfter,
    requestId: requestIdOf(response),
    message:
      `${operation} got a response that does not come from Beckon (${status}, ${type}). ` +
      "Check the url and the proxies in front of it.",
    cause,
  });
}

/**
 * Returns the response if `isExpected`. If not, closes its body, which can be of any size.
 * @throws BeckonError `unexpected_answer` if the response is not the expected one
 */
export async function ensureExpected(
  response: Response,
  operation: string,
  isExpected: boolean,
): Promise<Response> {
  if (isExpected) return response;
  await response.body?.cancel();
  throw unexpectedResponse(response, operation);
}

/** Returns whether the body has this media type, with any parameters. */
export function hasMediaType({ headers }: Response, mediaType: string | undefined): boolean {
  return headers.get("content-type")?.split(";", 1)[0]?.trim() === mediaType;
}

/** Returns the id that every response of Beckon has; undefined if a proxy sent the response. */
export const requestIdOf = ({ headers }: Response) => headers.get("beckon-request-id") ?? undefined;

/**
 * Returns the seconds in `Retry-After`, which has seconds or a date (RFC 9110, section 10.2.3).
 * Returns undefined if the header is missing or invalid.
 */
function parseRetryAfter(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/**
 * Parses a JSON response.
 * @throws BeckonError `no_answer` if the body is truncated, `unexpected_answer` if its content type
 *   is not JSON
 */
export async function readJson<T>(
  response: Response,
  operation: string,
  parse: (text: string) => unknown = JSON.parse,
): Promise<T> {
  const isJson = /^application\/([\w.-]+\+)?json\b/.test(
    response.headers.get("content-type") ?? "",
  );
  const text = await (await ensureExpected(response, operation, isJson)).text();
  try {
    return parse(text) as T;
  } catch (cause) {
    throw truncated(operation, cause);
  }
}
