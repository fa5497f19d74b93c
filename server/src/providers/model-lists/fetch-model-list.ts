import { EgressDenied, howToAllow } from "../../base/egress/index.ts";
import { tryParseJson } from "../../base/json/index.ts";
import type { ListRequest } from "./model-list-format.ts";

const maxModels = 1_000;
const maxNameLength = 200;
/** Maximum characters of all names of a list. OpenRouter's list of 400 models has 14,000. */
const maxNamesLength = 40_000;
/** Maximum characters of a response. OpenAI's list of models has 20,000. */
const maxListLength = 2 * 1024 * 1024;
/** Maximum characters of an error response that are read. */
const maxErrorLength = 16 * 1024;

/** The names of at most 1,000 models, or an error that says why there are none. */
export type FetchedModels =
  | { readonly models: readonly string[]; readonly error: null }
  | {
      readonly models: readonly [];
      readonly error: string;
      /** Whether the server did not finish its response in time. Such a server may only be busy. */
      readonly timedOut: boolean;
      /** Whether the server has no list there. Its models may work all the same. */
      readonly hasNoList: boolean;
    };

/**
 * Requests a list of models. Never rejects: a failure is part of the result. Does not follow
 * redirects. The error does not quote the server's response, because some servers repeat the key in
 * it.
 *
 * @param namesIn returns the names in a parsed response, or undefined if the response is not a list
 *   of models.
 * @param timeoutMs limits the time from the requests to the end of the last response.
 */
export async function fetchModelList(
  fetch: typeof globalThis.fetch,
  { url, headers, keyUrl }: ListRequest,
  namesIn: (response: unknown) => readonly string[] | undefined,
  timeoutMs: number,
): Promise<FetchedModels> {
  const signal = AbortSignal.timeout(timeoutMs);
  const get = (from: string) => fetch(from, { headers, signal, redirect: "manual" });
  try {
    const [response, isRejected] = await Promise.all([
      get(url),
      keyUrl === undefined ? false : rejects(get(keyUrl)),
    ]);
    if (isRejected) {
      await response.body?.cancel();
      return failed(rejectsKey(401));
    }
    if (response.status === 400)
      return failed(badRequestError(await textOf(response, maxErrorLength)));
    if (!response.ok) {
      await response.body?.cancel();
      return failedWith(response.status);
    }
    const text = await textOf(response, maxListLength);
    const names = text === undefined ? undefined : namesIn(tryParseJson(text));
    if (names === undefined)
      return failed("It answered, but not with a list of models: is the base URL that of its API?");
    return { models: usable(names), error: null };
  } catch (thrown) {
    if (signal.aborted)
      return failed(`It did not answer within ${timeoutMs / 1_000} seconds.`, { timedOut: true });
    if (thrown instanceof EgressDenied)
      return failed(thrown.hostPort === undefined ? thrown.message : howToAllow(thrown.hostPort));
    return failed(`It cannot be reached${codeOf(thrown)}.`);
  }
}

function failedWith(status: number): FetchedModels {
  switch (status) {
    case 401:
    case 403:
      return failed(rejectsKey(status));
    // Some servers have no list, or its path for other methods only.
    case 404:
    case 405:
    case 501:
      return failed(
        `It does not list its models (${status}), so Beckon cannot check it. Agents can use it if the base URL is right.`,
        { hasNoList: true },
      );
    case 429:
      return failed("It answered 429: too many requests, or the account's limit is used up.");
    default:
      return failed(`It answered ${status}.`);
  }
}

/** Returns whether a response about the key says that the key is wrong. */
async function rejects(responding: Promise<Response>): Promise<boolean> {
  const response = await responding.catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 401;
}

const rejectsKey = (status: number) => `It rejects the key (${status}).`;

function failed(error: string, { timedOut = false, hasNoList = false } = {}): FetchedModels {
  return { models: [], error, timedOut, hasNoList };
}

/** Google and xAI reject a wrong key with the status 400, and say so in the body. */
function badRequestError(text: string | undefined): string {
  return /api[ _]?key/i.test(text ?? "") ? rejectsKey(400) : "It rejects the request (400).";
}

/** Returns the names that can be used, up to the limits of a list. */
function usable(names: readonly string[]): readonly string[] {
  let length = 0;
  return names
    .filter(isUsable)
    .slice(0, maxModels)
    .filter((name) => {
      length += name.length;
      return length <= maxNamesLength;
    });
}

/** Returns whether the name can follow the slash in `provider/model`. */
function isUsable(name: string): boolean {
  return name.length > 0 && name.length <= maxNameLength && !/[\s\p{C}]/u.test(name);
}

/** Returns the body as text; undefined if it is longer than `maxLength` characters. */
async function textOf(response: Response, maxLength: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxLength) return undefined;
  }
  return text;
}

/**
 * Returns the error code of a failed connection in parentheses, or no text if the error has no
 * code. Error messages are not returned, because they contain addresses.
 */
function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? ` (${code})` : "";
}
