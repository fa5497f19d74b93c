import { maxMicrosPerMillion, type Rates } from "@beckon/contract";
import { isJsonObject } from "../base/json/index.ts";
import { pointerTo, SettingsReader } from "../base/settings-file/index.ts";
import type { OperatorPrices } from "./operator-prices.ts";

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
  const reader = new SettingsReader(text, ["models", "voice_second", "browser_second"]);
  const { models: given = {} } = reader.file;
  const models = new Map<string, Rates>();
  for (const [name, entry] of Object.entries(reader.objectAt("/models", given, "models"))) {
    const at = pointerTo("/models", name);
    const mistake = mistakeOfName(name);
    if (mistake !== undefined) reader.add(at, `${JSON.stringify(name)} ${mistake}`);
    models.set(name, readRates(reader, at, JSON.stringify(name), entry));
  }
  const priceAt = (field: string) =>
    reader.amountAt(pointerTo("", field), reader.file[field], field, perSecond);
  const prices = {
    models,
    voiceNanosPerSecond: priceAt("voice_second"),
    browserNanosPerSecond: priceAt("browser_second"),
  };
  reader.throwMistakes();
  return prices;
}

function readRates(reader: SettingsReader, at: string, name: string, given: unknown): Rates {
  const entry = reader.objectAt(at, given, name, rateFields);
  if (isJsonObject(given))
    for (const field of ["input", "output"])
      if (!Object.hasOwn(entry, field))
        reader.add(at, `${name} has no ${field}. Add it, in ${perMillion.unit}`);
  const read = (field: string) =>
    reader.amountAt(pointerTo(at, field), entry[field], `${field} of ${name}`, perMillion);
  return {
    input_micros_per_million: read("input") ?? 0,
    output_micros_per_million: read("output") ?? 0,
    cached_input_micros_per_million: read("cached_input") ?? null,
    cache_write_micros_per_million: read("cache_write") ?? null,
  };
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
