import { isJsonObject, type JsonObject } from "../json/index.ts";
import { shorten } from "../shorten.ts";
import { pointerTo, type TextPosition } from "./read-json.ts";
import { type FileMistake, FileMistakes, jsonOf } from "./read-settings-file.ts";

/** Which amounts a settings file can contain. */
export interface AmountFormat {
  /** Unit of the amount, in the plural. */
  readonly unit: string;
  /** The maximum; the minimum is 0. */
  readonly max: number;
  readonly decimals: number;
  /** What is allowed instead of a number. Default: nothing. */
  readonly alternative?: string;
}

/**
 * Reads the objects and amounts of a settings file, and collects the mistakes in it, so that the
 * operator sees all of them at once. A `pointer` is the JSON pointer to a value in the file, and
 * `what` names the value in the message of a mistake.
 */
export class SettingsReader {
  readonly #positions: ReadonlyMap<string, TextPosition>;
  readonly #mistakes: FileMistake[] = [];
  /** The whole file. */
  readonly file: JsonObject;

  /**
   * @param fields names of the allowed fields of the whole file.
   * @throws FileMistakes if `text` is not valid JSON.
   */
  constructor(text: string, fields: readonly string[]) {
    const { value, positions } = jsonOf(text);
    this.#positions = positions;
    this.file = this.objectAt("", value, "the file", fields);
  }

  /**
   * Records a mistake in the value at `pointer`. `throwMistakes` reports all mistakes.
   * @param mistake a sentence without a full stop.
   */
  add(pointer: string, mistake: string): void {
    const position = this.#positions.get(pointer) ?? { line: 1, column: 1 };
    this.#mistakes.push({ ...position, what: mistake });
  }

  /**
   * Returns `given` if it is an object, else an empty object.
   * @param fields names of the allowed fields; undefined if all names are allowed.
   */
  objectAt(pointer: string, given: unknown, what: string, fields?: readonly string[]): JsonObject {
    if (!isJsonObject(given)) {
      this.add(pointer, `${what} must be a JSON object`);
      return {};
    }
    for (const name of Object.keys(given))
      if (fields?.includes(name) === false)
        this.add(
          pointerTo(pointer, name),
          `${JSON.stringify(name)} is not a field of ${what}. Its fields are ${fields.join(", ")}`,
        );
    return given;
  }

  /**
   * Returns the amount as a multiple of the smallest allowed amount, for example in billionths of a
   * dollar if 9 decimals are allowed. Returns undefined if `given` is undefined or not valid.
   */
  amountAt(
    pointer: string,
    given: unknown,
    what: string,
    { unit, max, decimals, alternative }: AmountFormat,
  ): number | undefined {
    if (given === undefined) return undefined;
    const isInRange = typeof given === "number" && given >= 0 && given <= max;
    const units = isInRange ? Number((given * 10 ** decimals).toPrecision(15)) : Number.NaN;
    if (Number.isInteger(units)) return units;
    const form = decimals === 0 ? "a whole number" : `with at most ${decimals} decimals`;
    const end = alternative === undefined ? "" : `, or ${alternative}`;
    this.add(
      pointer,
      `${what} was ${shown(given)}. It must be a number of ${unit}, 0 to ${max.toLocaleString("en")}, ${form}${end}`,
    );
    return undefined;
  }

  /** @throws FileMistakes if there are mistakes. */
  throwMistakes(): void {
    if (this.#mistakes.length > 0) throw new FileMistakes(this.#mistakes);
  }
}

/** Returns a value of the file for a message: at most 100 characters. */
function shown(value: unknown): string {
  // JSON.stringify returns "null" for Infinity, which is the value of 1e999.
  const text = typeof value === "number" ? String(value) : JSON.stringify(value);
  return shorten(text, 100);
}
