import { type Preset, receiving } from "@beckon/contract";
import type { z } from "zod";

/** Returns a preset, with the defaults of the contract for all settings that it leaves out. */
export function definePreset({
  settings,
  ...preset
}: Omit<Preset, "receiving"> & {
  readonly settings: Omit<z.input<typeof receiving>, "preset">;
}): Preset {
  return { ...preset, receiving: receiving.parse({ ...settings, preset: preset.name }) };
}
