import type {
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { raceSignal } from "../../base/abort.ts";
import { ModelFailure } from "../model-failure.ts";
import { throwInBandError } from "./in-band-error.ts";
import type { RawAnswer } from "./read-answer.ts";

/** Called with each delta as it arrives. */
export type OnText = (type: "text" | "reasoning", text: string) => void;

export interface StreamListener {
  readonly onText: OnText;
  /** Called for each part read, with the bytes of it that are kept. */
  readonly onRead?: (bytes: number) => void;
}

type Part = {
  type: "text" | "reasoning";
  text: string;
  providerMetadata?: SharedV4ProviderMetadata;
};

/** A text or reasoning part that has not ended. */
interface Block {
  readonly part: Part;
  /** End of the text, not yet appended to `part.text`. */
  tail: string;
}

/** Charge for an empty block: a stream can start a hundred thousand of them. */
const blockBytes = 64;

/** A block's tail is flattened at this length. */
const flatCharacters = 2 * 1024;

/**
 * Reads a model's stream to its end. The answer is complete only with a `finish` part. An error
 * inside the stream fails the answer even if a finish follows, because the libraries continue after
 * events that they could not parse.
 *
 * @throws the error that the stream contains, {ModelFailure}, or the signal's reason.
 */
export async function collectStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  signal: AbortSignal,
  { onText, onRead = () => {} }: StreamListener,
): Promise<RawAnswer> {
  const reader = stream.getReader();
  const content: LanguageModelV4Content[] = [];
  const blocks = new Map<string, Block>();
  const inputs = new Map<string, number>();
  let finish: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined;
  try {
    for (;;) {
      const { done, value: part } = await raceSignal(reader.read(), signal);
      if (done) break;
      if (part.type === "error") throw part.error;
      if (part.type === "raw") throwInBandError(part.rawValue);
      if (part.type === "finish") finish = part;
      else onRead(addPart(part, { content, blocks, inputs, onText }));
    }
  } catch (thrown) {
    // Not awaited: a stream that ignores its cancellation must not block the run.
    reader.cancel(thrown).catch(() => undefined);
    throw thrown;
  }
  if (finish === undefined)
    throw new ModelFailure("The model's stream ended without a finish event.", { retryable: true });
  for (const block of blocks.values()) flatten(block);
  return { content, finishReason: finish.finishReason, usage: finish.usage, streamed: true };
}

/**
 * Adds one part to the content. A block keeps the position where it began; the metadata of its
 * start, deltas and end is merged.
 *
 * @returns the bytes kept of the part. Arguments of a tool call count while the library buffers
 *   them.
 */
function addPart(
  part: LanguageModelV4StreamPart,
  {
    content,
    blocks,
    inputs,
    onText,
  }: {
    content: LanguageModelV4Content[];
    blocks: Map<string, Block>;
    inputs: Map<string, number>;
    onText: OnText;
  },
): number {
  switch (part.type) {
    case "text-start":
    case "reasoning-start": {
      const block: Block = { part: { type: kindOf(part.type), text: "" }, tail: "" };
      blocks.set(`${block.part.type} ${part.id}`, block);
      content.push(block.part);
      return blockBytes + mergeMetadata(block.part, part.providerMetadata);
    }
    case "text-delta":
    case "reasoning-delta": {
      const kind = kindOf(part.type);
      const block = blocks.get(`${kind} ${part.id}`);
      if (block === undefined)
        throw new ModelFailure("The model's stream is out of order.", { retryable: true });
      block.tail += part.delta;
      if (block.tail.length >= flatCharacters) flatten(block);
      onText(kind, part.delta);
      return Buffer.byteLength(part.delta) + mergeMetadata(block.part, part.providerMetadata);
    }
    case "text-end":
    case "reasoning-end":
      return mergeMetadata(
        blocks.get(`${kindOf(part.type)} ${part.id}`)?.part,
        part.providerMetadata,
      );
    case "tool-input-delta": {
      const bytes = Buffer.byteLength(part.delta);
      inputs.set(part.id, (inputs.get(part.id) ?? 0) + bytes);
      return bytes;
    }
    case "tool-call":
      content.push(part);
      return (
        blockBytes +
        part.toolCallId.length +
        part.toolName.length +
        Buffer.byteLength(part.input) -
        (inputs.get(part.toolCallId) ?? 0) +
        sizeOf(part.providerMetadata)
      );
    default:
      return 0;
  }
}

/**
 * V8 concatenates strings by reference (ropes): a million single characters would keep two million
 * objects, thirty bytes a character. Reading a character flattens the string.
 */
function flatten(block: Block): void {
  block.tail.charCodeAt(0);
  block.part.text += block.tail;
  block.tail = "";
}

function kindOf(type: string): "text" | "reasoning" {
  return type.startsWith("text") ? "text" : "reasoning";
}

/**
 * Merges metadata field by field: a signature at the end of a block must not replace the metadata
 * of its start.
 *
 * @returns bytes of `metadata`.
 */
function mergeMetadata(
  part: Part | undefined,
  metadata: SharedV4ProviderMetadata | undefined,
): number {
  if (part === undefined || metadata === undefined) return 0;
  const known: SharedV4ProviderMetadata = { ...part.providerMetadata };
  for (const [provider, members] of Object.entries(metadata))
    known[provider] = { ...known[provider], ...members };
  part.providerMetadata = known;
  return sizeOf(metadata);
}

function sizeOf(metadata: SharedV4ProviderMetadata | undefined): number {
  return metadata === undefined ? 0 : JSON.stringify(metadata).length;
}
