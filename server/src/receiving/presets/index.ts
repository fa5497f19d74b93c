import type { Preset } from "@beckon/contract";
import { github } from "./github.ts";

/** The services whose requests a trigger can be set to accept, in the order in which they are shown. */
export const presets: readonly Preset[] = [github];
