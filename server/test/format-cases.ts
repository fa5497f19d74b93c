import type { ProviderKind } from "@beckon/contract";
import type { Transport } from "../src/base/egress/index.ts";
import type { Model } from "../src/engine/index.ts";
import { providerModel } from "../src/engine/index.ts";
import { productionFetch } from "./engine-run.ts";
import { anthropic, chat, google, responses, type Wire } from "./wire/index.ts";

/** A kind of provider with its wire format. Each kind has a plain case and a streamed one. */
export interface FormatCase {
  readonly kind: ProviderKind;
  readonly wire: Wire;
  readonly stream: "never" | "always";
}

const formats: readonly (readonly [ProviderKind, Wire])[] = [
  ["openai", responses],
  ["openai-chat", chat],
  ["openai-compatible", chat],
  ["anthropic", anthropic],
  ["google", google],
];

export const formatCases: readonly FormatCase[] = formats.flatMap(([kind, wire]) => [
  { kind, wire, stream: "never" as const },
  { kind, wire, stream: "always" as const },
]);

export const scriptedKey = "an/unusual key+of=ours";

/**
 * Returns a scripted model of this kind. Its model name is `model`, because the libraries of the
 * providers have special code for some real names.
 */
export function scriptedModel(
  kind: ProviderKind,
  baseUrl: string,
  transport: Transport = productionFetch,
): Model {
  return providerModel(kind, {
    name: "scripted",
    baseUrl,
    apiKey: scriptedKey,
    modelId: "model",
    transport,
  });
}
