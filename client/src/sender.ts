import type { Call } from "./call.ts";
import { truncated } from "./error.ts";
import { exchange, TimedOut, timedOut, withTimeout } from "./exchange.ts";
import { type Listing, listing, type Page } from "./listing.ts";
import type { CallOptions, OnceOptions, Settings } from "./options.ts";
import { readText } from "./read-text.ts";
import {
  ensureExpected,
  hasMediaType,
  readJson,
  requestIdOf,
  unexpectedResponse,
} from "./response.ts";

/** Sends calls. Each function returns the response in another form. */
export interface Sender {
  /** Returns `data` of the JSON body `{ok, data}`. */
  data<T>(call: Call, options?: OnceOptions): Promise<T>;
  /** Returns the whole JSON body. */
  whole<T>(call: Call, options?: OnceOptions): Promise<T>;
  /** Returns nothing. The response must be a 204. */
  nothing(call: Call, options?: OnceOptions): Promise<void>;
  list<T>(call: Call, options?: OnceOptions): Listing<T>;
  /**
   * Yields the values of a JSON Lines body as they arrive. The request is sent when iteration
   * starts, which also starts `timeout`.
   */
  lines<T>(call: Call, options?: OnceOptions): AsyncIterable<T>;
  /** Returns the body as text. Its media type must be `accept` of the call. */
  text(call: Call, options?: OnceOptions): Promise<string>;
  /** Returns the body, which can have any media type. */
  bytes(call: Call, options?: OnceOptions): Promise<Blob>;
}

/** If no data of a JSON Lines response arrives for this long, the connection counts as lost. */
const idleTimeoutMs = 60_000;

/** A JSON body that was parsed, but not checked yet. */
type Unchecked = Readonly<Record<string, unknown>> | null;

/**
 * Returns whether a body without `data` comes from Beckon. It has the run that the call started, or
 * is an export of agents.
 */
function isWhole({ labelled, open }: Call, body: Unchecked): boolean {
  if (!labelled) return body?.beckon !== undefined;
  // Only a fire, which needs no credential, can be skipped.
  const isSkipped = open === true && body?.skipped === true;
  return body?.ok === true && (isSkipped || typeof body.run_id === "string");
}

const hasData = (body: Unchecked): boolean => body?.ok === true && body.data !== undefined;

const isPage = (body: Unchecked): boolean =>
  hasData(body) &&
  Array.isArray(body?.data) &&
  (body.next === null || typeof body.next === "string");

export function createSender(settings: Settings): Sender {
  const json = <T>(call: Call, options: CallOptions = {}, isValid: (body: Unchecked) => boolean) =>
    exchange<T>(settings, call, options, async (response, operation) => {
      const body = await readJson<T>(response, operation, options.parse);
      if (!isValid(body as Unchecked)) throw unexpectedResponse(response, operation);
      return body;
    });
  return {
    whole: <T>(call: Call, options?: CallOptions) =>
      json<T>(call, options, (body) => isWhole(call, body)),
    data: async <T>(call: Call, options?: CallOptions) =>
      (await json<{ data: T }>(call, options, hasData)).data,
    nothing: (call, options = {}) =>
      exchange(settings, call, options, async (response, operation) => {
        await ensureExpected(response, operation, response.status === 204);
      }),
    list: <T>(call: Call, options?: CallOptions) =>
      listing(async (after) => {
        const page = after === undefined ? call : { ...call, query: { ...call.query, after } };
        const { data, next } = await json<Page<T>>(page, options, isPage);
        return { data, next };
      }),
    lines: (call, options) => readLines(settings, call, options),
    text: (call, options = {}) =>
      exchange(settings, call, options, async (response, operation) => {
        const isExpected = hasMediaType(response, call.accept);
        return (await ensureExpected(response, operation, isExpected)).text();
      }),
    bytes: (call, options = {}) =>
      exchange(settings, { ...call, accept: "*/*" }, options, async (response, operation) => {
        const isExpected = requestIdOf(response) !== undefined;
        return (await ensureExpected(response, operation, isExpected)).blob();
      }),
  };
}

async function* readLines<T>(
  settings: Settings,
  call: Call,
  options: CallOptions = {},
): AsyncGenerator<T> {
  const operation = `${call.method} ${call.path}`;
  const { parse = JSON.parse } = options;
  // `exchange` returns before the body is read, so its timeout ends too early.
  const { signal, release } = withTimeout(options);
  try {
    const response = await exchange(
      settings,
      { ...call, accept: "application/jsonl" },
      { ...options, signal },
      (response, operation) =>
        ensureExpected(response, operation, hasMediaType(response, "application/jsonl")),
    );
    const parseLine = (line: string, isLast = false): T => {
      try {
        return parse(line) as T;
      } catch (cause) {
        throw isLast
          ? truncated(operation, cause)
          : unexpectedResponse(response, operation, { cause });
      }
    };
    let rest = "";
    for await (const text of readText(response, operation, idleTimeoutMs, signal)) {
      const complete = (rest + text).split("\n");
      rest = complete.pop() ?? "";
      for (const line of complete) if (line !== "") yield parseLine(line);
    }
    if (rest.trim() !== "") yield parseLine(rest, true);
  } catch (thrown) {
    throw thrown instanceof TimedOut ? timedOut(operation, options.timeout) : thrown;
  } finally {
    release();
  }
}
