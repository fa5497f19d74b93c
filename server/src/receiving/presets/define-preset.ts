import { type Preset, receiving } from "@beckon/contract";
import type { z } from "zod";

/** Returns a preset whose settings have the defaults of the contract where it says nothing else. */
export function definePreset({
  settings,
  ...preset
}: Omit<Preset, "receiving"> & {
  readonly settings: Omit<z.input<typeof receiving>, "preset">;
}): Preset {
  return { ...preset, receiving: receiving.parse({ ...settings, preset: preset.name }) };
}
