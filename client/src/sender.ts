import { jsonOf } from "./answer.ts";
import { textOf } from "./bytes.ts";
import type { Call } from "./call.ts";
import { exchange } from "./exchange.ts";
import { type Listing, listing, type Page } from "./listing.ts";
import type { CallOptions, OnceOptions, Settings } from "./options.ts";

/** Makes calls; one function for each form of an answer. */
export interface Sender {
  /** The `data` of `{ok, data}`. */
  data<T>(call: Call, options?: OnceOptions): Promise<T>;
  /** The whole JSON. */
  whole<T>(call: Call, options?: OnceOptions): Promise<T>;
  nothing(call: Call, options?: OnceOptions): Promise<void>;
  list<T>(call: Call, options?: OnceOptions): Listing<T>;
  /** JSON Lines, one by one as they come; the call is made when the first one is asked for. */
  lines<T>(call: Call, options?: OnceOptions): AsyncIterable<T>;
  text(call: Call, options?: OnceOptions): Promise<string>;
  bytes(call: Call, options?: OnceOptions): Promise<Blob>;
}

/** Milliseconds without a byte after which lines count as cut. */
const idle = 60_000;

export function createSender(settings: Settings): Sender {
  const whole = <T>(call: Call, options: CallOptions = {}) =>
    exchange<T>(settings, call, options, jsonOf);
  return {
    whole,
    data: async <T>(call: Call, options?: CallOptions) =>
      (await whole<{ data: T }>(call, options)).data,
    nothing: (call, options = {}) =>
      exchange(settings, call, options, async (response) => {
        await response.body?.cancel();
      }),
    list: <T>(call: Call, options?: CallOptions) =>
      listing(async (after) => {
        const page = after === undefined ? call : { ...call, query: { ...call.query, after } };
        const { data, next } = await whole<Page<T>>(page, options);
        return { data, next };
      }),
    lines: (call, options) => lines(settings, call, options),
    text: (call, options = {}) =>
      exchange(settings, accepting(call, "*/*"), options, (response) => response.text()),
    bytes: (call, options = {}) =>
      exchange(settings, accepting(call, "*/*"), options, (response) => response.blob()),
  };
}

const accepting = (call: Call, type: string): Call => ({ accept: type, ...call });

async function* lines<T>(
  settings: Settings,
  call: Call,
  options: CallOptions = {},
): AsyncGenerator<T> {
  const response = await exchange(
    settings,
    accepting(call, "application/jsonl"),
    options,
    async (response) => response,
  );
  let rest = "";
  for await (const text of textOf(response, `${call.method} ${call.path}`, idle, options.signal)) {
    const complete = (rest + text).split("\n");
    rest = complete.pop() ?? "";
    for (const line of complete) if (line !== "") yield JSON.parse(line) as T;
  }
  if (rest.trim() !== "") yield JSON.parse(rest) as T;
}
