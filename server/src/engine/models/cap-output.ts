import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { parseExactly, rawNumber } from "../../base/json/index.ts";

type Fetch = typeof globalThis.fetch;

/**
 * Header in which `boundInHeader` passes the output bound of a call, its maximum number of output
 * tokens, to a wrapper of `fetch`. `takeBound` removes the header before the request is sent.
 */
const boundHeader = "beckon-output-bound";

/**
 * Name of the field of `providerOptions` that contains the output bound. It must not be the name of
 * a provider: the library for OpenAI-compatible servers sends all options under the provider's name
 * in the request.
 */
const optionsKey = "_beckon";

/** The smallest budget for thinking that Anthropic accepts. */
const minThinkingTokens = 1_024;

/** Returns the options that limit how many tokens a model can write, thinking included. */
export function outputBoundOption(
  maxOutputTokens: number,
): Pick<LanguageModelV4CallOptions, "maxOutputTokens" | "providerOptions"> {
  return { maxOutputTokens, providerOptions: { [optionsKey]: { output_bound: maxOutputTokens } } };
}

/** Returns the output bound of a call in tokens; undefined if no limit applies to the call. */
export function outputBoundOf({ providerOptions }: LanguageModelV4CallOptions): number | undefined {
  const bound = providerOptions?.[optionsKey]?.output_bound;
  return typeof bound === "number" ? bound : undefined;
}

/**
 * Returns the option `headers` of a call, with `boundHeader` added, which contains the call's
 * output bound. If the call has no bound, returns `{}`, so that spreading it changes nothing.
 */
export function boundInHeader(
  options: LanguageModelV4CallOptions,
): Pick<LanguageModelV4CallOptions, "headers"> {
  const bound = outputBoundOf(options);
  return bound === undefined ? {} : { headers: { ...options.headers, [boundHeader]: `${bound}` } };
}

/** Returns the output bound in the header of a request, and the request without the header. */
export function takeBound(init: RequestInit | undefined): {
  readonly bound: number | undefined;
  readonly sent: RequestInit | undefined;
} {
  const headers = new Headers(init?.headers);
  const bound = headers.get(boundHeader);
  if (bound === null) return { bound: undefined, sent: init };
  headers.delete(boundHeader);
  return { bound: Number(bound), sent: { ...init, headers: Object.fromEntries(headers) } };
}

/**
 * Wraps `fetch` and caps the output of requests that have the header `boundHeader`. The library for
 * Anthropic adds the budget for thinking to the maximum number of tokens, so a model could write
 * more than the run has reserved. A request above the bound gets the bound as its maximum, and
 * thinking gets at most half of it. Other requests are sent as they are.
 */
export function capOutput(fetch: Fetch): Fetch {
  return (input, init) => {
    const { bound, sent } = takeBound(init);
    if (bound === undefined || typeof sent?.body !== "string") return fetch(input, sent);
    // Arguments of earlier tool calls can contain integers that `JSON.parse` would round.
    const body = parseExactly(sent.body, rawNumber) as AnthropicBody;
    if (body.max_tokens <= bound) return fetch(input, sent);
    const { thinking, ...rest } = { ...body, max_tokens: bound };
    return fetch(input, {
      ...sent,
      body: JSON.stringify({ ...rest, ...cappedThinking(thinking, bound) }),
    });
  };
}

interface AnthropicBody {
  readonly max_tokens: number;
  readonly thinking?: { readonly budget_tokens?: number };
}

/**
 * Returns the field `thinking` with at most half of `bound` as its budget. The field is left out if
 * that is less than Anthropic accepts.
 */
function cappedThinking(
  thinking: AnthropicBody["thinking"],
  bound: number,
): Pick<AnthropicBody, "thinking"> {
  if (thinking?.budget_tokens === undefined) return thinking === undefined ? {} : { thinking };
  const budget = Math.min(thinking.budget_tokens, Math.floor(bound / 2));
  return budget < minThinkingTokens ? {} : { thinking: { ...thinking, budget_tokens: budget } };
}
