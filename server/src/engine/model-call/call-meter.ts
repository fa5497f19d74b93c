import type { AnswerPart } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";
import type { ByteMeter } from "../../base/egress/index.ts";
import { heldBytesOf } from "../held-bytes.ts";
import { ModelFailure } from "../model-failure.ts";
import type { Answer } from "./read-answer.ts";

/**
 * Peak bytes of memory for each byte transferred. docs/decisions/0014-a-budget-of-bytes.md has the
 * figures; `script/bench bytes` measures them.
 */
const factors = {
  /**
   * Request body: its text (two bytes a character) and its UTF-8 in the socket's queue (up to
   * three).
   */
  sent: 5,
  /**
   * Plain answer: 1.5 to 3 while it arrives, in a buffer that grows ahead. Parsing it at the end
   * takes as much as a streamed answer, and by then the answer is paid for, so the peak is charged
   * from the start.
   */
  whole: 6,
  /** Stream: bytes that the parser buffers, such as a line that has not ended. */
  unread: 4,
  /**
   * Stream: the same for the last `maxQueuedBytes`, as parsed frames of single letters that are not
   * read yet.
   */
  queued: 16,
  /**
   * Stream: content, as text and two copies of its JSON for the journal, each two bytes a
   * character.
   */
  content: 6,
};

/** Memory of a stream before its first content. */
const streamBytes = 128 * 1024;

/** Bytes of a response that the transport queues for the parser. */
const maxQueuedBytes = 64 * 1024;

/**
 * Maximum ratio of stream bytes to content bytes: each word can come in a frame of over a hundred
 * bytes.
 */
const maxFraming = 8;

/** Up to this many characters the worst case is charged: cheaper than measuring. */
const maxUnmeasuredCharacters = 1_024;
const worstCaseFactor = 32;
/** Overhead of one part of an answer, in characters. */
const partCharacters = 16;

/**
 * Copies of an answer's JSON made at its end: for the journal entries of the step and of the run's
 * end.
 */
const copies = 2;

/**
 * Charges the memory of one attempt of a model call to the run's hold. Ends the attempt if the
 * answer or the workspace's memory exceeds its limit.
 */
export class CallMeter implements ByteMeter {
  readonly #hold: ByteHold | undefined;
  readonly #maxBytes: number;
  readonly #streamed: boolean;
  readonly #stop: (failure: ModelFailure) => void;
  #charged = 0;
  #received = 0;
  #unread = 0;
  #kept = 0;

  /** @param options `stop` must end the attempt with the given failure. */
  constructor(options: {
    readonly hold: ByteHold | undefined;
    readonly maxBytes: number;
    readonly streamed: boolean;
    readonly stop: (failure: ModelFailure) => void;
  }) {
    this.#hold = options.hold;
    this.#maxBytes = options.maxBytes;
    this.#streamed = options.streamed;
    this.#stop = options.stop;
  }

  sent(bytes: number): void {
    this.#charge(factors.sent * bytes + (this.#streamed ? streamBytes : 0));
  }

  received(bytes: number): void {
    this.#received += bytes;
    if (this.#received > this.#maxBytes * (this.#streamed ? maxFraming : 1))
      this.#stop(answerTooLarge(this.#maxBytes));
    else if (this.#streamed) this.#charge(this.#setUnread(this.#unread + bytes));
    else this.#charge(factors.whole * bytes);
  }

  /**
   * Records that a part of the stream was read, of which `bytes` are kept. Everything received
   * before it has been parsed.
   */
  read(bytes: number): void {
    this.#kept += bytes;
    if (this.#kept > this.#maxBytes) this.#stop(answerTooLarge(this.#maxBytes));
    else this.#charge(factors.content * bytes + this.#setUnread(0));
  }

  /** @returns the change of the charge for unread bytes. */
  #setUnread(bytes: number): number {
    const before = unreadCharge(this.#unread);
    this.#unread = bytes;
    return unreadCharge(bytes) - before;
  }

  /**
   * Replaces the attempt's charge by that of its answer, which is held until the run ends. Ends the
   * attempt if that exceeds the limit.
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

  /** `bytes` may be negative. */
  #charge(bytes: number): void {
    if (bytes < 0) this.#hold?.shrink(-bytes);
    if (bytes > 0 && this.#hold?.grow(bytes) === false) this.#stop(noMemory(this.#hold));
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

/**
 * The failure for a run that needs more memory than is available. It does not wait for memory: it
 * holds some already, and the runs that it would wait for may be waiting for it.
 */
export function noMemory({ maxBytes }: ByteHold): ModelFailure {
  return new ModelFailure(`The model call was ended: ${memoryIsUsedUp(maxBytes)}`, {
    retryable: false,
  });
}

/** @param maxBytes limit for the runs of one workspace in this process. */
export function memoryIsUsedUp(maxBytes: number): string {
  const mib = Math.floor(maxBytes / 1024 / 1024);
  return `the runs of this workspace use all the memory that they can use in one server process (${mib} MiB), or the process has none left. Start fewer runs at once, ask for shorter answers, or ask the operator to raise BECKON_MEMORY_BUDGET_MIB.`;
}
