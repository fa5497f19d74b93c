import { createParser } from "eventsource-parser";
import { textOf } from "./bytes.ts";
import { BeckonError } from "./error.ts";

/** A frame of a stream, or the milliseconds after which a reader that was cut may come back. */
export type Frame =
  | { readonly id: string | undefined; readonly data: unknown }
  | { readonly retry: number };

/** Three comments of the server have not come. */
const idle = 45_000;

/** Far above what Beckon sends as one event. */
const maxFrameLength = 16 * 1024 * 1024;

/** The frames of one connection. Ends when it does. @throws BeckonError `no_answer` when it breaks off; the signal's reason. */
export async function* framesOf(
  response: Response,
  what: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame> {
  const frames: Frame[] = [];
  const parser = createParser({
    maxBufferSize: maxFrameLength,
    onEvent: ({ id, data }) => frames.push({ id, data: parsed(data, what) }),
    onRetry: (retry) => frames.push({ retry }),
    onError: (cause) => {
      if (cause.type === "max-buffer-size-exceeded") throw foreign(what, cause);
    },
  });
  for await (const text of textOf(response, what, idle, signal)) {
    parser.feed(text);
    yield* frames.splice(0);
  }
}

function parsed(data: string, what: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw foreign(what, cause);
  }
}

function foreign(what: string, cause: unknown): BeckonError {
  return new BeckonError({
    code: "unexpected_answer",
    message: `${what} was answered with events that are not Beckon's.`,
    cause,
  });
}
