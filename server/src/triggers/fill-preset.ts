import { fieldOf, isJsonObject } from "../base/json/index.ts";
import { presets } from "../receiving/index.ts";

/**
 * Adds the settings of a preset to a body whose `receiving` names the preset: each field that
 * `receiving` leaves out gets the preset's value. A body that only names a preset therefore also
 * sets the preset's verification of requests. Other bodies are returned unchanged.
 */
export function fillPreset(body: unknown): unknown {
  const receiving = fieldOf(body, "receiving");
  const preset = presets.find(({ name }) => name === fieldOf(receiving, "preset"));
  if (preset === undefined || !isJsonObject(body) || !isJsonObject(receiving)) return body;
  return { ...body, receiving: { ...preset.receiving, ...receiving } };
}
