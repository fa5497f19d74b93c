import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4Content,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4StreamPart,
  type LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import { canBeEvents } from "../../base/egress/index.ts";

type Fetch = typeof globalThis.fetch;

/** A server sent a response without streaming although a stream was requested. */
class UnstreamedError extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super("the response is not a stream");
    this.response = response;
  }
}

/**
 * Returns the model that `build` creates, with streams for responses without streaming. Some
 * servers ignore that a stream was requested, and many send errors as JSON with the status 200. The
 * libraries would read both as a stream without events.
 */
export function unstreamedAnswers(
  fetch: Fetch,
  build: (fetch: Fetch) => LanguageModelV4,
): LanguageModelV4 {
  const model = build(fetch);
  let stream: LanguageModelV4["doStream"] | undefined;
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(options),
    doStream: (options) => {
      stream ??= withActualStatus(onlyStreams(fetch), build);
      const responses: Response[] = [];
      const readAgain: Fetch = async (input, init) => responses.pop() ?? fetch(input, init);
      return streamOrGenerate(stream(options), (response) => {
        responses.push(response);
        return build(readAgain).doGenerate(options);
      });
    },
  };
}

/**
 * Returns `doStream` of the model that `build` creates. If the first event of a stream is an error,
 * the libraries of OpenAI and Anthropic throw it with a status that they derive from its type. The
 * function throws such an error with the status 200, which the response had.
 */
function withActualStatus(
  fetch: Fetch,
  build: (fetch: Fetch) => LanguageModelV4,
): LanguageModelV4["doStream"] {
  /** The signals of calls whose response has an error status. See `meterCalls`. */
  const rejected = new WeakSet<AbortSignal>();
  const model = build(async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok && init?.signal) rejected.add(init.signal);
    return response;
  });
  return async (options) => {
    try {
      return await model.doStream(options);
    } catch (thrown) {
      const { abortSignal } = options;
      const isRejected = abortSignal === undefined || rejected.delete(abortSignal);
      if (isRejected || !APICallError.isInstance(thrown) || thrown.statusCode === undefined)
        throw thrown;
      throw new APICallError({ ...thrown, message: thrown.message, statusCode: 200 });
    }
  };
}

/** Returns `fetch`, which rejects with `UnstreamedError` if a successful response is no stream. */
export function onlyStreams(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok && !canBeEvents(response.headers.get("content-type")))
      throw new UnstreamedError(response);
    return response;
  };
}

/**
 * Returns a streamed result. If its request was sent with `onlyStreams` and the response is no
 * stream, returns the result of `generate` as a stream.
 * @param generate reads the response without streaming
 */
export async function streamOrGenerate(
  streamed: PromiseLike<LanguageModelV4StreamResult>,
  generate: (response: Response) => PromiseLike<LanguageModelV4GenerateResult>,
): Promise<LanguageModelV4StreamResult> {
  try {
    return await streamed;
  } catch (thrown) {
    if (!(thrown instanceof UnstreamedError)) throw thrown;
    return asStream(await generate(thrown.response));
  }
}

function asStream({
  content,
  finishReason,
  usage,
  warnings,
  request,
  response,
}: LanguageModelV4GenerateResult): LanguageModelV4StreamResult {
  const parts: LanguageModelV4StreamPart[] = [
    { type: "stream-start", warnings },
    // The body can contain an error, which `collectStream` looks for in the unparsed events.
    { type: "raw", rawValue: response?.body },
    {
      type: "response-metadata",
      ...(response?.modelId !== undefined && { modelId: response.modelId }),
    },
    ...content.flatMap(partsOf),
    { type: "finish", finishReason, usage },
  ];
  return {
    stream: new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(part);
        controller.close();
      },
    }),
    ...(request !== undefined && { request }),
    response: { ...(response?.headers !== undefined && { headers: response.headers }) },
  };
}

function partsOf(content: LanguageModelV4Content, index: number): LanguageModelV4StreamPart[] {
  if (content.type !== "text" && content.type !== "reasoning") return [content];
  const { type, text, providerMetadata } = content;
  const id = String(index);
  return [
    { type: `${type}-start`, id, ...(providerMetadata !== undefined && { providerMetadata }) },
    { type: `${type}-delta`, id, delta: text },
    { type: `${type}-end`, id },
  ];
}
