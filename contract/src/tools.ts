import { z } from "zod";
import { boundedList } from "./bounded.ts";
import { httpToolBody, httpToolGrant, httpToolInDocument } from "./http-tool.ts";
import { baseUrl } from "./providers.ts";

const clock = z.strictObject({ type: z.literal("clock") });

/**
 * A tool of an agent, as it is stored and returned in responses. Agents have no tools by default.
 */
export const toolGrant = z.discriminatedUnion("type", [clock, httpToolGrant]);
export type ToolGrant = z.infer<typeof toolGrant>;

const toolGrantBody = z.discriminatedUnion("type", [clock, httpToolBody]);
export type ToolGrantBody = z.infer<typeof toolGrantBody>;

const toolInDocument = z.discriminatedUnion("type", [clock, httpToolInDocument]);
export type ToolInDocument = z.infer<typeof toolInDocument>;

/**
 * Maximum number of functions that an agent's tools offer to the model. Providers reject more, and
 * models choose badly among many.
 */
const maxTools = 128;
const maxCharacters = 262_144;

/** `tools` in the body that creates or changes an agent. */
export const toolsBody = boundedList(toolGrantBody).max(64).superRefine(checkTogether);

/** `tools` of an agent in an exported document. */
export const toolsInDocument = boundedList(toolInDocument).max(64).superRefine(checkTogether);

/** Checks the tools of one agent together: unique names, total count and total size. */
function checkTogether(
  grants: readonly (ToolGrantBody | ToolInDocument)[],
  context: z.RefinementCtx,
): void {
  const names = new Set<string>(grants.some(({ type }) => type === "clock") ? ["clock"] : []);
  const grantNames = new Set<string>();
  const reportTaken = (path: (string | number)[]) =>
    context.addIssue({
      code: "custom",
      path,
      message: "is taken: another tool or operation of this agent has this name",
    });
  for (const [index, grant] of grants.entries()) {
    if (grant.type !== "http") continue;
    if (grantNames.has(grant.name)) reportTaken([index, "name"]);
    grantNames.add(grant.name);
    for (const [position, { name }] of grant.operations.entries()) {
      if (names.has(name)) reportTaken([index, "operations", position, "name"]);
      names.add(name);
    }
  }
  if (names.size > maxTools) {
    context.addIssue({
      code: "custom",
      message: `must have at most ${maxTools} operations in total`,
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
  /** An OpenAPI 3.0 or 3.1 document: JSON or YAML text, or a JSON object. */
  document: z.union([z.string().min(1), z.record(z.string(), z.unknown())], {
    error: "must be an OpenAPI document, as text or as a JSON object",
  }),
  /**
   * `operationId`s to import, or method and path of operations without one (`get /orders`).
   * Default: the first 64.
   */
  operations: z.array(z.string().min(1).max(200)).min(1).max(64).optional(),
  /**
   * URL before the paths, for documents that have no server with an absolute URL. Other documents
   * do not use it.
   */
  server: baseUrl.optional(),
});

/**
 * Response of `POST /tools/http/import`: a draft of a tool, which is not stored. The client reviews
 * it, fills in its empty secrets, and adds it to an agent.
 */
export interface ImportedHttpTool {
  readonly tool: Readonly<Record<string, unknown>>;
  /** Parts of the OpenAPI document that were not converted, and fields that must be filled in. */
  readonly warnings: readonly string[];
  /** The first 2,000 operations of the document, in its order. */
  readonly operations: readonly ImportableOperation[];
}

/** An operation of an OpenAPI document that is imported. */
export interface ImportableOperation {
  /** For the field `operations` of the request. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Its name in the tool; null if it was not imported. */
  readonly name: string | null;
}
