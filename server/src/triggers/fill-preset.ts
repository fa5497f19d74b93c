import { fieldOf, isJsonObject } from "../base/json-object.ts";
import { presets } from "../receiving/index.ts";

/**
 * Returns a body whose `receiving` names a preset with the settings of that preset wherever it has
 * none of its own. So a trigger that names a sender also verifies its requests. Other bodies are
 * returned unchanged.
 */
export function fillPreset(body: unknown): unknown {
  const receiving = fieldOf(body, "receiving");
  const preset = presets.find(({ name }) => name === fieldOf(receiving, "preset"));
  if (preset === undefined || !isJsonObject(body) || !isJsonObject(receiving)) return body;
  return { ...body, receiving: { ...preset.receiving, ...receiving } };
}
