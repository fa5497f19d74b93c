import type { LanguageModelV4Content, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import { ModelFailure } from "./model-failure.ts";
import { raceSignal } from "./race-signal.ts";
import type { RawAnswer } from "./read-answer.ts";
import { refuseInBand } from "./refuse-in-band.ts";

/** Called with each piece of text as it arrives. */
export type OnText = (type: "text" | "reasoning", text: string) => void;

type Block = { type: "text" | "reasoning"; text: string; providerMetadata?: SharedV4ProviderMetadata };

/**
 * Reads a model's stream to its end. Whole only with its `finish` part: an error inside the stream fails the answer even
 * if a finish follows, since providers' adapters go on after a piece they could not read.
 *
 * @throws what the stream carries as its error, `ModelFailure`, or the signal's reason.
 */
export async function collectStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  signal: AbortSignal,
  onText: OnText,
): Promise<RawAnswer> {
  const reader = stream.getReader();
  const content: LanguageModelV4Content[] = [];
  const blocks = new Map<string, Block>();
  let finish: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined;
  try {
    for (;;) {
      const { done, value: part } = await raceSignal(reader.read(), signal);
      if (done) break;
      if (part.type === "error") throw part.error;
      if (part.type === "raw") refuseInBand(part.rawValue);
      if (part.type === "finish") finish = part;
      else take(part, { content, blocks, onText });
    }
  } catch (thrown) {
    // Not awaited: a stream that ignores its cancellation must not hold the run.
    reader.cancel(thrown).catch(() => undefined);
    throw thrown;
  }
  if (finish === undefined) throw new ModelFailure("The model's stream ended without its end mark.", { retryable: true });
  return { content, finishReason: finish.finishReason, usage: finish.usage, streamed: true };
}

/** Adds one part to what has been said. A block is kept where it began; metadata of its start, pieces and end are merged. */
function take(
  part: LanguageModelV4StreamPart,
  { content, blocks, onText }: { content: LanguageModelV4Content[]; blocks: Map<string, Block>; onText: OnText },
): void {
  switch (part.type) {
    case "text-start":
    case "reasoning-start": {
      const block: Block = { type: kindOf(part.type), text: "" };
      blocks.set(`${block.type} ${part.id}`, block);
      content.push(block);
      remember(block, part.providerMetadata);
      break;
    }
    case "text-delta":
    case "reasoning-delta": {
      const kind = kindOf(part.type);
      const block = blocks.get(`${kind} ${part.id}`);
      if (block === undefined) throw new ModelFailure("The model's stream is out of order.", { retryable: true });
      block.text += part.delta;
      onText(kind, part.delta);
      remember(block, part.providerMetadata);
      break;
    }
    case "text-end":
    case "reasoning-end":
      remember(blocks.get(`${kindOf(part.type)} ${part.id}`), part.providerMetadata);
      break;
    case "tool-call":
      content.push(part);
      break;
  }
}

function kindOf(type: string): "text" | "reasoning" {
  return type.startsWith("text") ? "text" : "reasoning";
}

/** Member by member: a signature that comes with the end of a block must not take the place of what came with its start. */
function remember(block: Block | undefined, metadata: SharedV4ProviderMetadata | undefined): void {
  if (block === undefined || metadata === undefined) return;
  const known: SharedV4ProviderMetadata = { ...block.providerMetadata };
  for (const [provider, members] of Object.entries(metadata)) known[provider] = { ...known[provider], ...members };
  block.providerMetadata = known;
}
