import { mappingMistake } from "@beckon/contract";
import { z } from "zod";
import type { Mapping, MappingVariables } from "./mapping.ts";

/** Head of a frame to a child. The body is the payload's text. */
export type ToChild =
  | (Mapping & {
      readonly kind: "evaluate";
      readonly format: MappingVariables["payload"]["format"];
      readonly variables: Omit<MappingVariables, "payload">;
    })
  | (Mapping & { readonly kind: "check" });

/** Time of the evaluation in milliseconds, as the child measured it. */
const ms = z.number().nonnegative();

/** Head of a frame from a child. A child answers in the order of the requests. */
export const fromChild = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready") }),
  z.object({
    kind: z.literal("mapped"),
    ms,
    passes: z.boolean(),
    message: z.string().nullable(),
  }),
  z.object({ kind: z.literal("failed"), ms, mistake: mappingMistake }),
  z.object({ kind: z.literal("checked"), ms, mistakes: z.array(mappingMistake) }),
]);
export type FromChild = z.infer<typeof fromChild>;
export type ChildResult = Exclude<FromChild, { kind: "ready" }>;
