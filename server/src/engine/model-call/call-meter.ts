import type { AnswerPart } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";
import type { ByteMeter } from "../../base/egress/index.ts";
import { heldBytesOf, noMemory } from "../memory.ts";
import { ModelFailure } from "../model-failure.ts";
import type { AttemptRecord } from "./attempt-record.ts";
import type { Answer } from "./read-answer.ts";

/**
 * Peak bytes of memory for each byte of a response, and for each character of a request.
 * docs/decisions/0014-a-budget-of-bytes.md lists the measured figures, and `script/bench bytes`
 * measures them again.
 */
const factors = {
  /**
   * Request body: its text (two bytes for each character) and its UTF-8 bytes in the socket's write
   * queue (up to three bytes for each character).
   */
  request: 5,
  /**
   * Answer without streaming. While it arrives, each byte takes 1.5 to 3 bytes of buffer. When it
   * is complete, it is parsed, and then each byte takes 6, like `content`. All 6 are charged while
   * it arrives: if they were charged only before parsing and no memory was left, an answer that the
   * provider has already billed would be lost.
   */
  whole: 6,
  /** Streamed answer: bytes that the parser buffers, such as a line that has not ended. */
  unread: 4,
  /**
   * Streamed answer: used instead of `unread` for the first `maxQueuedBytes` unread bytes, because
   * these may already be parsed into events that nothing has read yet. If an event has one letter
   * of content, its object takes several times the bytes that were received for the event.
   */
  queued: 16,
  /**
   * Streamed answer: content as text and in two copies of its JSON for the journal, each with two
   * bytes for each character.
   */
  content: 6,
};

/** Bytes of memory that a stream takes before its first content. */
const streamBytes = 128 * 1024;

/** Maximum bytes of a response that the transport queues for the parser. */
const maxQueuedBytes = 64 * 1024;

/**
 * Maximum size of a streamed response, as a multiple of the maximum size of an answer; above it the
 * attempt ends. Each word can arrive in a frame of over a hundred bytes, so the frames of a valid
 * stream are larger than its content.
 */
const maxFraming = 8;

/**
 * An answer of up to this many characters is charged with `worstCaseFactor` bytes for each
 * character, which costs less CPU than measuring the answer.
 */
const maxUnmeasuredCharacters = 1_024;
const worstCaseFactor = 32;
/** Overhead of one part of an answer, in characters. */
const partCharacters = 16;

/**
 * Number of copies of an answer's JSON that are made when the answer is complete: one for the
 * journal entry of the step, and one for that of the end of the run.
 */
const copies = 2;

/**
 * Adds the memory of one attempt of a model call to the memory that the run has reserved. Ends the
 * attempt if the answer is larger than its limit, or if the workspace or the process would use more
 * memory than its limit.
 */
export class CallMeter implements ByteMeter {
  readonly #memory: ByteHold | undefined;
  readonly #maxBytes: number;
  readonly #streamed: boolean;
  readonly #record: AttemptRecord;
  readonly #stop: (failure: ModelFailure) => void;
  readonly #onReceived: () => void;
  #charged = 0;
  #unread = 0;
  #kept = 0;

  /**
   * @param options `record` is updated with what happens to the attempt. `stop` is called with the
   *   failure and must end the attempt. `onReceived` is called for each chunk of the response.
   */
  constructor(options: {
    readonly memory: ByteHold | undefined;
    readonly maxBytes: number;
    readonly streamed: boolean;
    readonly record: AttemptRecord;
    readonly stop: (failure: ModelFailure) => void;
    readonly onReceived: () => void;
  }) {
    this.#memory = options.memory;
    this.#maxBytes = options.maxBytes;
    this.#streamed = options.streamed;
    this.#record = options.record;
    this.#stop = options.stop;
    this.#onReceived = options.onReceived;
  }

  requested(bytes: number): void {
    this.#record.isRequested = true;
    this.#charge(factors.request * bytes + (this.#streamed ? streamBytes : 0));
  }

  sent(): void {
    this.#record.sent();
  }

  received(bytes: number): void {
    this.#record.receivedBytes += bytes;
    this.#onReceived();
    if (this.#record.receivedBytes > this.#maxBytes * (this.#streamed ? maxFraming : 1))
      this.#stop((this.#streamed ? streamTooLarge : answerTooLarge)(this.#maxBytes));
    else if (this.#streamed) this.#charge(this.#setUnread(this.#unread + bytes));
    else this.#charge(factors.whole * bytes);
  }

  /**
   * Records that a part of the stream was read, and that `bytes` bytes of this part are kept. From
   * then on, all bytes received before this call count as parsed.
   */
  read(bytes: number): void {
    this.#kept += bytes;
    if (this.#kept > this.#maxBytes) this.#stop(answerTooLarge(this.#maxBytes));
    else this.#charge(factors.content * bytes + this.#setUnread(0));
  }

  /**
   * Sets the number of unread bytes.
   *
   * @returns the resulting change of the charge in bytes.
   */
  #setUnread(bytes: number): number {
    const before = unreadCharge(this.#unread);
    this.#unread = bytes;
    return unreadCharge(bytes) - before;
  }

  /**
   * Replaces the charge for the attempt by the charge for its answer, which stays until the run
   * ends. Ends the attempt if the memory limit is then exceeded.
   */
  chargeAnswer(answer: Answer): void {
    const characters = answer.parts.reduce(
      (sum, part) => sum + partCharacters + charactersOf(part),
      0,
    );
    const isShort =
      characters <= maxUnmeasuredCharacters &&
      answer.parts.every((part) => part.provider_metadata === undefined);
    const bytes = isShort ? worstCaseFactor * characters : heldBytesOf(answer.parts, copies);
    this.#charge(bytes - this.#charged);
  }

  /** Releases the charge of a failed attempt. */
  release(): void {
    this.#charge(-this.#charged);
  }

  /** Adds `bytes`, which may be negative, to the charge. */
  #charge(bytes: number): void {
    if (bytes < 0) this.#memory?.shrink(-bytes);
    if (bytes > 0 && this.#memory?.grow(bytes) === false)
      this.#stop(noMemory("The model call was ended", this.#memory));
    else this.#charged += bytes;
  }
}

function unreadCharge(bytes: number): number {
  return (
    factors.unread * bytes + (factors.queued - factors.unread) * Math.min(bytes, maxQueuedBytes)
  );
}

function charactersOf(part: AnswerPart): number {
  return part.type === "tool_call"
    ? part.call_id.length + part.tool.length + part.arguments.length
    : part.text.length;
}

function answerTooLarge(maxBytes: number): ModelFailure {
  return new ModelFailure(
    `The model's answer is larger than ${maxBytes} bytes, the agent's limits.max_answer_bytes. Raise it (at most 33554432), or ask the model for shorter answers.`,
    { retryable: false },
  );
}

/** Returns the failure of a stream whose content can be much smaller than its maximum. */
function streamTooLarge(maxBytes: number): ModelFailure {
  return new ModelFailure(
    `The stream of the model's answer, including its framing, is larger than ${maxFraming * maxBytes} bytes, ${maxFraming} times the agent's limits.max_answer_bytes. Raise it (at most 33554432), or set model_settings.stream to "never".`,
    { retryable: false },
  );
}
