import { type MappingMistake, type Preview, previewBody, type Receiving } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { orThrow } from "../../base/errors.ts";
import { parse, type UnparsedBody } from "../../base/parse.ts";
import type { MappingServices } from "../../mapping/index.ts";
import type { ReceivedBodyHold } from "../../receiving/index.ts";
import { fillPreset } from "../fill-preset.ts";
import { mapRequest } from "../map-request.ts";
import { defaultReceiving, receivingOf, requireTrigger, type TriggerInput } from "../trigger.ts";
import { type BodyServices, withBodyHold } from "./body-hold.ts";
import { decodeRequest } from "./decode-request.ts";
import { readTrialRequest } from "./trial-request.ts";

/**
 * Returns the preview of a request: the result of the trigger's filter and template, with its saved
 * settings or with settings that are not saved yet. Nothing is stored and no run starts. Mistakes
 * in the filter and the template are part of the result. The message is shown even if the filter
 * rejects the request.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`, `conflict`, `unsupported_type`,
 *   `too_large`, `unavailable`
 */
export async function previewTrigger({
  ctx,
  input,
}: {
  ctx: Context & MappingServices & BodyServices;
  input: TriggerInput & { body: UnparsedBody };
}): Promise<Preview> {
  permit(ctx, "triggers:read");
  return withBodyHold(ctx, (hold) => previewWith(ctx, input, hold));
}

async function previewWith(
  ctx: Context & MappingServices,
  input: TriggerInput & { body: UnparsedBody },
  hold: ReceivedBodyHold,
): Promise<Preview> {
  const { row, body, raw } = await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireTrigger(tx, ctx, input);
    const body = parse(previewBody, fillPreset(orThrow(input.body)));
    const raw = await readTrialRequest(tx, ctx, row, body.request, hold.growBytes);
    return { row, body, raw };
  });
  const given = body.receiving === undefined ? receivingOf(row) : body.receiving;
  const receiving = given ?? defaultReceiving;
  const { filter, template } = receiving;
  const request = await decodeRequest(ctx.workspaceId, receiving, raw, hold);
  const mistakes = await ctx.mapping.check({ tenant: ctx.workspaceId, filter, template });
  const isValid = (part: MappingMistake["part"]) => mistakes.every((each) => each.part !== part);

  // The filter and the template are evaluated separately, so that the mistakes of both are shown.
  const only = (part: Pick<Receiving, "filter" | "template">) =>
    mapRequest(ctx.mapping, { ...request, receiving: { ...receiving, ...part } });
  const filtered = isValid("filter") ? await only({ filter, template: null }) : undefined;
  const shown = isValid("template") ? await only({ filter: null, template }) : undefined;
  for (const result of [filtered, shown])
    if (result?.kind === "failed") mistakes.push(result.mistake);
  const hasResult = filtered !== undefined && filtered.kind !== "failed";
  const prefix = { kind: "prefix" as const, text: body.prompt_prefix ?? row.prompt_prefix };
  const message = shown?.kind === "passes" ? shown : undefined;
  const isShown = ({ text }: { readonly text: string }) => text !== "";
  const parts = message === undefined ? [] : [prefix, ...message.parts].filter(isShown);
  return {
    event_id: request.event.id,
    event_type: request.event.type,
    passes: hasResult ? filtered.kind === "passes" : null,
    input: message === undefined ? null : parts.map(({ text }) => text).join("\n\n"),
    parts,
    mistakes,
  };
}
