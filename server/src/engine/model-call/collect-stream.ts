import { setImmediate } from "node:timers/promises";
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
  /** Called for each part that the provider sent. Default: no call. */
  readonly onData?: () => void;
  /**
   * Called for each part that the model wrote (text, reasoning, or arguments of a tool call), with
   * its size in bytes. Default: no call.
   */
  readonly onOutput?: (bytes: number) => void;
  /**
   * Called for each part that is read, with the number of bytes that stay in memory for it.
   * Default: no call.
   */
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
  /** The end of the text, which is not yet appended to `part.text`. */
  tail: string;
}

/**
 * Bytes of memory charged for an empty block. Empty blocks are charged because a stream can start a
 * hundred thousand of them.
 */
const blockBytes = 64;

/**
 * New text of a block is collected in its `tail`. When the tail has this many characters, it is
 * appended to the block's text (see `flatten`).
 */
const flatCharacters = 2 * 1024;

/**
 * Number of parts after which the event loop gets a turn. Parts that are already in memory are read
 * in microtasks: without these turns, a long answer of the demo model would delay all other runs,
 * and stop signals, until its end.
 */
const partsPerTurn = 256;

/**
 * Reads a model's stream to its end. The answer is complete only if it has a `finish` part. An
 * error inside the stream makes the answer fail even if a `finish` part follows, because the
 * libraries continue after events that they could not parse.
 *
 * @throws the error that the stream contains, {ModelFailure}, or the signal's reason.
 */
export async function collectStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  signal: AbortSignal,
  { onText, onData = () => {}, onOutput = () => {}, onRead = () => {} }: StreamListener,
): Promise<RawAnswer & { readonly responseModel: string | undefined }> {
  const reader = stream.getReader();
  const content: LanguageModelV4Content[] = [];
  const blocks = new Map<string, Block>();
  const inputs = new Map<string, number>();
  let finish: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined;
  let responseModel: string | undefined;
  try {
    for (let parts = 1; ; parts++) {
      if (parts % partsPerTurn === 0) await setImmediate();
      const { done, value: part } = await raceSignal(reader.read(), signal);
      if (done) break;
      // The libraries create this part themselves, before the provider has sent anything.
      if (part.type !== "stream-start") onData();
      if (part.type === "error") throw part.error;
      if (part.type === "raw") throwInBandError(part.rawValue);
      if (part.type === "response-metadata") responseModel = part.modelId;
      if (part.type === "finish") finish = part;
      else onRead(addPart(part, { content, blocks, inputs, onText, onOutput }));
    }
  } catch (thrown) {
    // The cancellation is not awaited, because a stream that ignores it must not block the run.
    reader.cancel(thrown).catch(() => undefined);
    throw thrown;
  }
  if (finish === undefined)
    throw new ModelFailure("The model's stream ended without a finish event.", { retryable: true });
  for (const block of blocks.values()) flatten(block);
  const { finishReason, usage } = finish;
  return { content, finishReason, usage, streamed: true, responseModel };
}

/**
 * Adds one part of the stream to the content. A block stays at the position where it began. The
 * metadata of its start, its deltas and its end is merged.
 *
 * @returns the number of bytes of the part that are kept. The arguments of a tool call count from
 *   their first delta on, because the library buffers them.
 */
function addPart(
  part: LanguageModelV4StreamPart,
  {
    content,
    blocks,
    inputs,
    onText,
    onOutput,
  }: {
    content: LanguageModelV4Content[];
    blocks: Map<string, Block>;
    inputs: Map<string, number>;
    onText: OnText;
    onOutput: (bytes: number) => void;
  },
): number {
  switch (part.type) {
    case "text-start":
    case "reasoning-start": {
      const block: Block = { part: { type: kindOf(part.type), text: "" }, tail: "" };
      const key = `${block.part.type} ${part.id}`;
      // A library can use an id again after the block has ended. The library for OpenAI-compatible
      // servers does so if text is followed by reasoning and then by more text.
      const earlier = blocks.get(key);
      if (earlier !== undefined) flatten(earlier);
      blocks.set(key, block);
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
      const bytes = Buffer.byteLength(part.delta);
      onOutput(bytes);
      onText(kind, part.delta);
      return bytes + mergeMetadata(block.part, part.providerMetadata);
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
      onOutput(bytes);
      return bytes;
    }
    case "tool-call": {
      content.push(part);
      const bytes = Buffer.byteLength(part.input) - (inputs.get(part.toolCallId) ?? 0);
      // A model can use an id again. The deltas of this call must not count for the next one, too.
      inputs.delete(part.toolCallId);
      onOutput(bytes + part.toolName.length);
      return (
        blockBytes +
        part.toolCallId.length +
        part.toolName.length +
        bytes +
        sizeOf(part.providerMetadata)
      );
    }
    default:
      return 0;
  }
}

/**
 * Appends the tail of a block to its text as a flat string. V8 concatenates strings by reference
 * (ropes): a text that arrives as a million single characters would keep two million objects,
 * thirty bytes for each character. Reading a character of a rope makes it flat.
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
 * Merges metadata field by field, because a signature at the end of a block must not replace the
 * metadata of the block's start.
 *
 * @returns the size of `metadata`, in characters of its JSON; 0 without `part` or `metadata`.
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
