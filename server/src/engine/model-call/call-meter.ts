import type { AnswerPart } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";
import type { ByteMeter } from "../../base/egress/index.ts";
import { heldBytesOf } from "../held-bytes.ts";
import { ModelFailure } from "../model-failure.ts";
import type { Answer } from "./read-answer.ts";

/**
 * Bytes of memory for each byte that passes, at the moment when most are held.
 * docs/decisions/0014-a-budget-of-bytes.md has the figures; `script/bench bytes` measures them.
 */
const factors = {
  /**
   * A request's body: the text (two bytes a character), and its UTF-8 in the socket's queue (three
   * at most).
   */
  sent: 5,
  /**
   * A plain answer: 1.5 to 3 while it arrives, in a buffer with room to grow. At its end it takes
   * as much as a streamed one, when it is too late to say no: the answer is paid for.
   */
  whole: 6,
  /** Of a stream, what the parser has taken and not given on: a line without an end. */
  unread: 4,
  /** The same of the last `maxQueuedBytes`: frames of single letters, parsed and not read. */
  queued: 16,
  /**
   * Of a stream, what was said: its text and two copies of its JSON for the journal, each two bytes
   * a character.
   */
  kept: 6,
};

/** Bytes of memory that a stream takes before it says anything. */
const streamBytes = 128 * 1024;

/** Bytes of an answer that the transport lets wait for the parser. */
const maxQueuedBytes = 64 * 1024;

/**
 * Bytes of a stream for each byte of what it says, at most: words come one by one, each in a frame
 * of a hundred bytes and more.
 */
const maxFraming = 8;

/** Texts up to here are charged their worst case, which costs less than to look. */
const shortText = 1_024;
const shortTextFactor = 32;
/** What a part of an answer takes beside its text, as characters. */
const partCharacters = 16;

/**
 * Copies of an answer's JSON that are made at its end: the step's entry in the journal, and that of
 * the run's end.
 */
const copies = 2;

/**
 * Counts what one try of a model call holds, in the run's hold, and ends the try when that is too
 * much: of one answer, or of all that the workspace holds.
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

  /** @param stop must end the try with this failure. */
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
      this.#stop(tooLong(this.#maxBytes));
    else if (this.#streamed) this.#charge(this.#leaveUnread(this.#unread + bytes));
    else this.#charge(factors.whole * bytes);
  }

  /**
   * A part of the stream was read, of which `bytes` are kept. All that was received before it has
   * been parsed.
   */
  read(bytes: number): void {
    this.#kept += bytes;
    if (this.#kept > this.#maxBytes) this.#stop(tooLong(this.#maxBytes));
    else this.#charge(factors.kept * bytes + this.#leaveUnread(0));
  }

  /** @returns by how much the charge for what is unread changes. */
  #leaveUnread(bytes: number): number {
    const before = unreadCharge(this.#unread);
    this.#unread = bytes;
    return unreadCharge(bytes) - before;
  }

  /**
   * The try has its answer: from now on that is what it is charged for, until the run ends. Ends
   * the try if that is too much.
   */
  weigh(answer: Answer): void {
    const characters = answer.parts.reduce(
      (sum, part) => sum + partCharacters + charactersOf(part),
      0,
    );
    const isShort =
      characters <= shortText && answer.parts.every((part) => part.provider_metadata === undefined);
    const bytes = isShort ? shortTextFactor * characters : heldBytesOf(answer.parts, copies);
    this.#charge(bytes - this.#charged);
  }

  /** The try has failed: nothing of it is held any more. */
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

function tooLong(maxBytes: number): ModelFailure {
  return new ModelFailure(
    `The model's answer is larger than ${maxBytes} bytes, the agent's limits.max_answer_bytes. Raise it (at most 33554432), or have the model answer in fewer words.`,
    { retryable: false },
  );
}

/**
 * The run holds bytes already, so it does not wait for more: the runs that it would wait for may be
 * waiting for it.
 */
export function noMemory({ maxBytes }: ByteHold): ModelFailure {
  return new ModelFailure(`The run's model call was ended: ${memoryIsUsedUp(maxBytes)}`, {
    retryable: false,
  });
}

/** @param maxBytes what the runs of one workspace may hold in this process. */
export function memoryIsUsedUp(maxBytes: number): string {
  const mib = Math.floor(maxBytes / 1024 / 1024);
  return `the runs of this workspace hold all the memory that they may use at once in one server process (${mib} MiB), or the process has no more to give. Start fewer runs at once, or have them answer in fewer words; the operator can raise BECKON_MEMORY_BUDGET_MIB.`;
}
