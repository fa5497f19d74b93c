import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import { google } from "./google.ts";
import { responses } from "./responses.ts";
import type { Wire } from "./wire.ts";

const wires: readonly Wire[] = [chat, responses, anthropic, google];

/** Returns the format that is used on this path. */
export function wireOf(path: string): Wire {
  return wires.find((wire) => wire.matches(path)) ?? chat;
}

export { chunk } from "./chat.ts";
export type { ModelOutput, ProviderError } from "./model-output.ts";
export type { Wire } from "./wire.ts";
export { anthropic, chat, google, responses };
