import { accepted } from "./answer.ts";
import { type Call, type Prepared, prepare } from "./call.ts";
import { BeckonError } from "./error.ts";
import type { CallOptions, OnceOptions, Settings } from "./options.ts";
import { delayBefore, isLost, sleep } from "./retry.ts";

/** Reads a good answer, as far as it must be read before the exchange counts as done. */
export type Read<T> = (response: Response, what: string) => Promise<T>;

const tryTimeout = 60_000;

/**
 * Makes a call, again where that is safe and may help, and reads its answer.
 * @throws BeckonError; the reason of the caller's signal; TypeError when the call cannot be made of its values.
 */
export async function exchange<T>(
  settings: Settings,
  call: Call,
  options: CallOptions & OnceOptions,
  read: Read<T>,
): Promise<T> {
  const prepared = prepare(settings, call, options);
  const { what, repeatable } = prepared;
  const retries = options.retries ?? settings.retries;
  const { signal, release } = ending(options);
  try {
    let lost = false;
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(
          settings,
          prepared,
          { signal, limit: options.tryTimeout ?? tryTimeout },
          read,
        );
      } catch (thrown) {
        signal.throwIfAborted();
        if (!(thrown instanceof BeckonError)) throw thrown;
        // The try whose answer was lost has deleted it.
        if (lost && call.method === "DELETE" && thrown.status === 404)
          return await read(new Response(null, { status: 204 }), what);
        const delay = delayBefore(thrown, { tries, retries, repeatable });
        if (delay === undefined) throw thrown;
        lost ||= isLost(thrown);
        await sleep(delay, signal);
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof TimedOut)) throw thrown;
    throw new BeckonError({
      code: "timed_out",
      message: `${what} was not answered within ${options.timeout} ms.`,
    });
  } finally {
    release();
  }
}

/** One request and its answer. @throws BeckonError: `no_answer` for anything that goes wrong on the way, or takes longer than the limit. */
export async function attempt<T>(
  settings: Settings,
  { url, init, what }: Prepared,
  { signal, limit }: { readonly signal: AbortSignal; readonly limit: number },
  read: Read<T>,
): Promise<T> {
  signal.throwIfAborted();
  const cut = new AbortController();
  const stop = () => cut.abort(signal.reason);
  const timer = setTimeout(() => cut.abort(new Error(`no answer within ${limit} ms`)), limit);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const response = await settings.fetch(url, { ...init, signal: cut.signal });
    return await read(await accepted(response, what), what);
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof BeckonError) throw thrown;
    throw new BeckonError({
      code: "no_answer",
      message: `${what} has got no answer: ${reasonOf(thrown)}`,
      cause: thrown,
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/** `fetch failed` says nothing; what lies under it does. */
function reasonOf(thrown: unknown): string {
  const { message, cause } = thrown as {
    message?: string;
    cause?: { message?: string; code?: string };
  };
  return [message, cause?.message || cause?.code].filter(Boolean).join(": ");
}

class TimedOut extends Error {}

/** The caller's signal and timeout as one signal, until released. */
function ending({ signal, timeout }: CallOptions): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const timer =
    timeout === undefined ? undefined : setTimeout(() => controller.abort(new TimedOut()), timeout);
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    },
  };
}
