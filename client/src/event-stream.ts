import { createParser } from "eventsource-parser";
import { BeckonError } from "./error.ts";
import { readText } from "./read-text.ts";

/**
 * An item of a stream. It is an event; or the delay in milliseconds before a reconnection, which
 * the server sends as `retry:`; or a cursor, which the server sends after events that the filter of
 * the stream leaves out.
 */
export type Frame =
  | { readonly id: string | undefined; readonly data: unknown }
  | { readonly retry: number }
  | { readonly cursor: string };

/**
 * If no data arrives for this long, the connection counts as lost. This is three times the server's
 * interval between keep-alive comments.
 */
export const idleTimeoutMs = 45_000;

/** Maximum length of one event in UTF-16 code units. Beckon's events are far smaller. */
const maxFrameLength = 16 * 1024 * 1024;

interface FrameOptions {
  readonly signal: AbortSignal;
  /** Called for each chunk of data, even if it contains only a comment. */
  readonly onActivity?: (() => void) | undefined;
  /** Parses the JSON of an event. Default: `JSON.parse`. */
  readonly parse?: ((text: string) => unknown) | undefined;
}

/**
 * Yields the frames of one connection until it ends.
 * @throws BeckonError `no_answer` if the connection is lost, `unexpected_answer` if the data does
 *   not come from Beckon; the signal's reason if the signal aborts
 */
export async function* readFrames(
  response: Response,
  operation: string,
  { signal, onActivity, parse = JSON.parse }: FrameOptions,
): AsyncGenerator<Frame> {
  const frames: Frame[] = [];
  const parser = createParser({
    maxBufferSize: maxFrameLength,
    onEvent: ({ id, data }) => {
      try {
        frames.push({ id, data: parse(data) });
      } catch (cause) {
        throw unexpectedEvents(operation, cause);
      }
    },
    onRetry: (retry) => frames.push({ retry }),
    // Cursors are read from comments, because the parser reports an `id:` only with an event.
    onComment: (comment) => {
      const cursor = /^cursor (\S+)$/.exec(comment)?.[1];
      if (cursor !== undefined) frames.push({ cursor });
    },
    onError: (cause) => {
      if (cause.type === "max-buffer-size-exceeded") throw unexpectedEvents(operation, cause);
    },
  });
  for await (const text of readText(response, operation, idleTimeoutMs, signal)) {
    onActivity?.();
    parser.feed(text);
    yield* frames.splice(0);
  }
}

function unexpectedEvents(operation: string, cause: unknown): BeckonError {
  return new BeckonError({
    code: "unexpected_answer",
    message:
      `${operation} got a stream that does not come from Beckon. ` +
      "Check the url and the proxies in front of it.",
    cause,
  });
}
