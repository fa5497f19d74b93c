import { BeckonError } from "./error.ts";
import type { ErrorAnswer } from "./generated/schemas.ts";

/** The answer, if it is a good one. @throws BeckonError */
export async function accepted(response: Response, what: string): Promise<Response> {
  if (response.ok) return response;
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    throw new BeckonError({
      code: "unexpected_answer",
      status: response.status,
      message: `${what} was redirected, and credentials do not follow. Give createClient the address that it leads to.`,
    });
  }
  const { status } = response;
  const retryAfter = secondsOf(response.headers.get("retry-after"));
  const text = await response.text();
  const { error, code, run_id: runId } = errorIn(text);
  if (error !== undefined && code !== undefined)
    throw new BeckonError({ code, message: error, status, runId, retryAfter });
  throw unexpected(response, what, retryAfter);
}

function errorIn(text: string): Partial<ErrorAnswer> {
  try {
    const body = JSON.parse(text) as Partial<ErrorAnswer> | null;
    return body?.ok === false ? body : {};
  } catch {
    return {};
  }
}

/** Something on the way has answered in Beckon's place. */
export function unexpected(
  { status, headers }: Response,
  what: string,
  retryAfter?: number,
): BeckonError {
  const type = headers.get("content-type") ?? "no type";
  return new BeckonError({
    code: "unexpected_answer",
    status,
    retryAfter,
    message: `${what} was answered with ${status} and ${type}, which is not Beckon's. Look at the address, and at the proxies before it.`,
  });
}

/** Both forms that HTTP knows: seconds, or a time. */
function secondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/** The JSON of a good answer. A body that breaks off is an answer that was lost. */
export async function jsonOf<T>(response: Response, what: string): Promise<T> {
  if (!/^application\/([\w.-]+\+)?json\b/.test(response.headers.get("content-type") ?? "")) {
    await response.body?.cancel();
    throw unexpected(response, what);
  }
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new BeckonError({
      code: "no_answer",
      message: `The answer to ${what} broke off.`,
      cause,
    });
  }
}
