import { z } from "zod";
import { httpToolBody, httpToolGrant, httpToolInDocument } from "./http-tool.ts";

const clock = z.strictObject({ type: z.literal("clock") });

/** A tool granted to an agent, as it is kept and shown. Each kind is a member of this union; nothing is granted by default. */
export const toolGrant = z.discriminatedUnion("type", [clock, httpToolGrant]);
export type ToolGrant = z.infer<typeof toolGrant>;

const toolGrantBody = z.discriminatedUnion("type", [clock, httpToolBody]);
export type ToolGrantBody = z.infer<typeof toolGrantBody>;

const toolInDocument = z.discriminatedUnion("type", [clock, httpToolInDocument]);
export type ToolInDocument = z.infer<typeof toolInDocument>;

/** Providers refuse more functions than this, and models choose badly among many. */
const maxTools = 128;
const maxCharacters = 262_144;

/** The member `tools` of the body that creates or changes an agent. */
export const toolsBody = z.array(toolGrantBody).max(64).superRefine(requireFit);

/** The member `tools` of an agent in a document. */
export const toolsInDocument = z.array(toolInDocument).max(64).superRefine(requireFit);

/** What holds between the tools of one agent. */
function requireFit(
  grants: readonly (ToolGrantBody | ToolInDocument)[],
  context: z.RefinementCtx,
): void {
  const names = new Set<string>(grants.some(({ type }) => type === "clock") ? ["clock"] : []);
  const grantNames = new Set<string>();
  const taken = (path: (string | number)[], what: string) =>
    context.addIssue({
      code: "custom",
      path,
      message: `is ${what}: another tool of this agent has this name`,
    });
  for (const [index, grant] of grants.entries()) {
    if (grant.type !== "http") continue;
    if (grantNames.has(grant.name)) taken([index, "name"], "taken");
    grantNames.add(grant.name);
    for (const [position, { name }] of grant.operations.entries()) {
      if (names.has(name)) taken([index, "operations", position, "name"], "taken");
      names.add(name);
    }
  }
  if (names.size > maxTools) {
    context.addIssue({
      code: "custom",
      message: `must hold at most ${maxTools} operations in all`,
    });
  }
  if (JSON.stringify(grants).length > maxCharacters) {
    context.addIssue({
      code: "custom",
      message: `must be at most ${maxCharacters.toLocaleString("en")} characters as JSON`,
    });
  }
}

/** Body of `POST /tools/http/import`. */
export const importHttpToolBody = z.strictObject({
  /** An OpenAPI 3.0 or 3.1 document: its JSON or YAML text, or the JSON itself. */
  document: z.union([z.string().min(1), z.record(z.string(), z.unknown())], {
    error: "must be the text of an OpenAPI document, or its JSON",
  }),
  /** `operationId`s; without them all that fit. */
  operations: z.array(z.string().min(1).max(200)).min(1).max(64).optional(),
});

/** Its answer: a tool to be looked at, completed (secrets are empty) and put into an agent. Nothing was stored. */
export interface ImportedHttpTool {
  readonly tool: Readonly<Record<string, unknown>>;
  /** What could not be taken over, or has to be filled in. */
  readonly warnings: readonly string[];
}
