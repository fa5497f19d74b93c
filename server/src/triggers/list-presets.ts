import type { Preset } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import type { Page } from "../base/page.ts";
import { presets } from "../receiving/index.ts";

/** Returns all presets with settings and examples, on one page. @throws ApiError `forbidden` */
export function listPresets({ ctx }: { ctx: Context }): Page<Preset> {
  permit(ctx, "triggers:read");
  return { data: [...presets], next: null };
}
