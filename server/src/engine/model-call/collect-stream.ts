import type {
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { raceSignal } from "../../base/abort.ts";
import { ModelFailure } from "../model-failure.ts";
import type { RawAnswer } from "./read-answer.ts";
import { refuseInBand } from "./refuse-in-band.ts";

/** Called with each piece of text as it arrives. */
export type OnText = (type: "text" | "reasoning", text: string) => void;

export interface StreamListener {
  readonly onText: OnText;
  /** Called for each part that was read, with the bytes that are kept of it. */
  readonly onRead?: (bytes: number) => void;
}

type Part = {
  type: "text" | "reasoning";
  text: string;
  providerMetadata?: SharedV4ProviderMetadata;
};

/** A part that is being said. */
interface Block {
  readonly part: Part;
  /** The end of its text, not joined to it yet. */
  tail: string;
}

/** What an empty block counts as: a stream may begin a hundred thousand of them. */
const blockBytes = 64;

/** Characters after which a block's tail is made one flat text. */
const flatCharacters = 2 * 1024;

/**
 * Reads a model's stream to its end. Whole only with its `finish` part: an error inside the stream fails the answer even
 * if a finish follows, since providers' adapters go on after a piece they could not read.
 *
 * @throws what the stream carries as its error, `ModelFailure`, or the signal's reason.
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
      if (part.type === "raw") refuseInBand(part.rawValue);
      if (part.type === "finish") finish = part;
      else onRead(take(part, { content, blocks, inputs, onText }));
    }
  } catch (thrown) {
    // Not awaited: a stream that ignores its cancellation must not hold the run.
    reader.cancel(thrown).catch(() => undefined);
    throw thrown;
  }
  if (finish === undefined)
    throw new ModelFailure("The model's stream ended without its end mark.", { retryable: true });
  for (const block of blocks.values()) flatten(block);
  return { content, finishReason: finish.finishReason, usage: finish.usage, streamed: true };
}

/**
 * Adds one part to what has been said. A block is kept where it began; metadata of its start,
 * pieces and end are merged.
 * @returns the bytes that are kept of the part, the arguments of a call by the library until they
 *   are whole.
 */
function take(
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
      return blockBytes + remember(block.part, part.providerMetadata);
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
      return Buffer.byteLength(part.delta) + remember(block.part, part.providerMetadata);
    }
    case "text-end":
    case "reasoning-end":
      return remember(blocks.get(`${kindOf(part.type)} ${part.id}`)?.part, part.providerMetadata);
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
 * V8 joins texts by reference: a text of a million single characters would keep two million
 * objects, thirty bytes a character. Reading a character makes it one flat text.
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
 * Member by member: a signature that comes with the end of a block must not take the place of what
 * came with its start.
 * @returns bytes of `metadata`.
 */
function remember(part: Part | undefined, metadata: SharedV4ProviderMetadata | undefined): number {
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
