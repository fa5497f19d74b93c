import { maxMicrosPerMillion, type Rates } from "@beckon/contract";
import {
  type FileMistake,
  FileMistakes,
  jsonOf,
  pointerTo,
  shownValue,
} from "../base/settings-file/index.ts";
import type { OperatorPrices } from "./operator-prices.ts";

type JsonObject = Readonly<Record<string, unknown>>;

const topFields = ["models", "voice_second", "browser_second"];
const rateFields = ["input", "output", "cached_input", "cache_write"];

/** The allowed names: `provider/model`, `provider/prefix*`, `provider/*` or `*`. */
const namePattern = /^(?:[a-z0-9][a-z0-9._-]{0,62}\/(?:[^\s*]+\*?|\*)|\*)$/;

const perMillion = {
  unit: "dollars for 1,000,000 tokens",
  max: maxMicrosPerMillion / 1_000_000,
  decimals: 6,
};
const perSecond = { unit: "dollars for a second", max: 1_000, decimals: 9 };

/**
 * Parses the operator's prices: a JSON object with the fields `models`, `voice_second` and
 * `browser_second`.
 * @throws FileMistakes if the text is not JSON, or if a field or a value is not allowed.
 */
export function parseOperatorPrices(text: string): OperatorPrices {
  const mistakes: FileMistake[] = [];
  const { value, positions } = jsonOf(text);
  const add = (pointer: string, what: string) =>
    mistakes.push({ ...(positions.get(pointer) ?? { line: 1, column: 1 }), what });
  const objectAt = (at: string, given: unknown, what: string): JsonObject => {
    if (isObject(given)) return given;
    add(at, `${what} must be a JSON object`);
    return {};
  };
  const checkFields = (at: string, object: JsonObject, known: readonly string[], what: string) => {
    for (const name of Object.keys(object).filter((each) => !known.includes(each)))
      add(
        pointerTo(at, name),
        `${JSON.stringify(name)} is not a field of ${what}. Its fields are ${known.join(", ")}`,
      );
  };
  /**
   * Returns the amount as a multiple of the smallest allowed amount, for example in billionths of a
   * dollar if 9 decimals are allowed; 0 if it is not valid.
   */
  const amountAt = (
    at: string,
    given: unknown,
    what: string,
    { unit, max, decimals }: typeof perMillion,
  ): number => {
    const isInRange = typeof given === "number" && given >= 0 && given <= max;
    const units = isInRange ? Number((given * 10 ** decimals).toPrecision(15)) : Number.NaN;
    if (Number.isInteger(units)) return units;
    const range = `0 to ${max.toLocaleString("en")}, with at most ${decimals} decimals`;
    add(at, `${what} was ${shownValue(given)}. It must be a number of ${unit}, ${range}`);
    return 0;
  };
  const ratesAt = (at: string, name: string, given: unknown): Rates => {
    const entry = objectAt(at, given, name);
    checkFields(at, entry, rateFields, name);
    const amountOf = (field: string) =>
      Object.hasOwn(entry, field)
        ? amountAt(pointerTo(at, field), entry[field], `${field} of ${name}`, perMillion)
        : null;
    for (const field of ["input", "output"])
      if (isObject(given) && !Object.hasOwn(entry, field))
        add(at, `${name} has no ${field}. Add it, in ${perMillion.unit}`);
    return {
      input_micros_per_million: amountOf("input") ?? 0,
      output_micros_per_million: amountOf("output") ?? 0,
      cached_input_micros_per_million: amountOf("cached_input"),
      cache_write_micros_per_million: amountOf("cache_write"),
    };
  };
  const modelsOf = (given: unknown): Map<string, Rates> => {
    const models = Object.entries(objectAt("/models", given, "models")).map(([name, entry]) => {
      const at = pointerTo("/models", name);
      const mistake = mistakeOfName(name);
      if (mistake !== undefined) add(at, `${JSON.stringify(name)} ${mistake}`);
      return [name, ratesAt(at, JSON.stringify(name), entry)] as const;
    });
    return new Map(models);
  };

  const file = objectAt("", value, "the file");
  checkFields("", file, topFields, "the file");
  const timeOf = (field: string) =>
    Object.hasOwn(file, field)
      ? amountAt(pointerTo("", field), file[field], field, perSecond)
      : undefined;
  const prices = {
    models: modelsOf(Object.hasOwn(file, "models") ? file.models : {}),
    voiceNanosPerSecond: timeOf("voice_second"),
    browserNanosPerSecond: timeOf("browser_second"),
  };
  if (mistakes.length > 0) throw new FileMistakes(mistakes);
  return prices;
}

/**
 * Returns what is wrong with the name of a model, as the rest of a sentence; undefined if it is
 * valid.
 */
function mistakeOfName(name: string): string | undefined {
  if (!namePattern.test(name))
    return "is not a model. It must be provider/model; a * at its end stands for any text";
  if (name.startsWith("demo/"))
    return "cannot have a price, because demo/echo always costs 0. Remove it";
  return undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
