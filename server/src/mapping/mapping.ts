import type { MappingMistake } from "@beckon/contract";

/**
 * What filters and templates can read. These values are only data and are never parsed as an
 * expression or a template.
 */
export interface MappingVariables {
  /**
   * With the format `json`, the payload is the JSON value that `text` encodes. With the format
   * `text`, it is the string `text`.
   */
  readonly payload: { readonly format: "json" | "text"; readonly text: string };
  /** Only the headers that the trigger's settings choose, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Only the query parameters that the trigger's settings choose. */
  readonly query: Readonly<Record<string, string>>;
  readonly event: { readonly id: string | null; readonly type: string | null };
  readonly files: readonly Readonly<Record<string, unknown>>[];
  /** When Beckon received the request, in RFC 3339. */
  readonly received_at: string;
}

/** The filter and the message template of a trigger; null if not set. */
export interface Mapping {
  readonly filter: string | null;
  readonly template: string | null;
}

/** The result of a mapping for one request. */
export interface Mapped {
  readonly passes: boolean;
  /** The rendered template; null if there is none, or if the filter rejects the request. */
  readonly message: string | null;
}

/** A filter or template failed. The message is for the trigger's owner and has no secrets. */
export class MappingError extends Error {
  override readonly name = "MappingError";
  readonly part: MappingMistake["part"];
  /** Line of the filter or template, counted from 1; null if it is not known. */
  readonly line: number | null;

  constructor({ part, message, line }: MappingMistake) {
    super(message);
    this.part = part;
    this.line = line;
  }
}

/** Limits of one evaluation. Small and large payloads have different limits and child processes. */
export interface EvaluationLimits {
  /** Maximum time from the start of the evaluation to its result, without the time in the queue. */
  readonly timeoutMs: number;
  /** Maximum size of the child's heap. */
  readonly heapMib: number;
}

/** Limits for payloads up to `maxSmallBytes`. */
export const smallLimits: EvaluationLimits = { timeoutMs: 100, heapMib: 64 };
/** Limits for larger payloads. */
export const largeLimits: EvaluationLimits = { timeoutMs: 2_000, heapMib: 512 };
/** Maximum size of a payload to which `smallLimits` apply, in bytes of UTF-8. */
export const maxSmallBytes = 1_048_576;
/**
 * Maximum size of a rendered message in bytes of UTF-8. It is `maxInputBytes` of the contract. The
 * contract is not imported because the child processes would load Zod.
 */
export const maxMessageBytes = 1_048_576;
