import { ModelFailure } from "../../model-failure.ts";
import {
  type AnswerFields,
  type Detail,
  detailsIn,
  type ExtraContent,
  extraContentIn,
  reasoningFieldIn,
} from "./answer-fields.ts";

/**
 * Maximum size of the fields of one answer, in bytes as `sizeOf` and `join` estimate them. The
 * memory of the run counts them only once the answer is complete.
 */
const maxBytes = 8 * 1024 * 1024;

/** The types that arrive in fragments. Encrypted reasoning arrives whole. */
const fragmentedTypes = new Set<Detail[string] | undefined>([
  "reasoning.text",
  "reasoning.summary",
]);

/** The fields whose fragments are concatenated. */
const textFields = new Set(["text", "summary"]);

/** Collects the fields of a stream, and joins the fragments of its reasoning details. */
export class StreamedFields {
  #details: Detail[] | undefined;
  #reasoningField: AnswerFields["reasoningField"];
  readonly #extraContent = new Map<string, ExtraContent>();
  #bytes = 0;
  /** For each type and index, the detail that the next fragment can continue. */
  readonly #unfinished = new Map<string, Detail>();

  get fields(): AnswerFields {
    const extraContent = this.#extraContent;
    return {
      reasoningDetails: this.#details,
      reasoningField: this.#reasoningField,
      extraContent: extraContent.size > 0 ? Object.fromEntries(extraContent) : undefined,
    };
  }

  /**
   * @param delta the message of one event.
   * @throws {ModelFailure} the fields are too large.
   */
  add(delta: unknown): void {
    const fragments = detailsIn(delta);
    if (fragments !== undefined) this.#addDetails(fragments);
    this.#reasoningField ??= reasoningFieldIn(delta);
    for (const [call, content] of extraContentIn(delta)) {
      if (this.#extraContent.has(call)) continue;
      this.#bytes += sizeOf(content);
      this.#extraContent.set(call, content);
    }
    if (this.#bytes > maxBytes)
      throw new ModelFailure(
        "The model's answer has more than 8 MiB of reasoning_details and extra_content. Lower reasoning_effort, or use another model.",
        { retryable: false },
      );
  }

  #addDetails(fragments: readonly Detail[]): void {
    this.#details ??= [];
    for (const fragment of fragments) {
      const kind = `${fragment.type} ${fragment.index}`;
      const detail = this.#unfinished.get(kind);
      const isNumbered = typeof fragment.index === "number";
      if (
        detail !== undefined &&
        continues(detail, fragment) &&
        (isNumbered || this.#details.at(-1) === detail)
      ) {
        this.#bytes += join(detail, fragment);
      } else {
        this.#bytes += sizeOf(fragment);
        this.#details.push(fragment);
        if (fragmentedTypes.has(fragment.type)) this.#unfinished.set(kind, fragment);
      }
    }
  }
}

/**
 * Returns whether `fragment`, which has the type and the index of `detail`, belongs to it. A
 * signature ends a detail, because it signs the text before it.
 */
function continues(detail: Detail, fragment: Detail): boolean {
  const isSame = !detail.id || !fragment.id || detail.id === fragment.id;
  return isSame && !detail.signature;
}

/**
 * Adds `fragment` to `detail`. Of the fields that are not concatenated, the first value is kept.
 *
 * @returns the estimated size of what was added, in bytes. V8 concatenates strings by reference,
 *   which takes 32 bytes.
 */
function join(detail: Detail, fragment: Detail): number {
  let bytes = 32;
  for (const [name, value] of Object.entries(fragment)) {
    const earlier = detail[name];
    const isText = textFields.has(name) && typeof earlier === "string";
    if (!isText && earlier !== undefined && earlier !== null) continue;
    detail[name] = isText ? earlier + String(value ?? "") : value;
    bytes += name.length + String(value).length;
  }
  return bytes;
}

function sizeOf(field: Detail | ExtraContent): number {
  return 64 + JSON.stringify(field).length;
}
