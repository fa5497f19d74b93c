import { z } from "zod";
import type { Tool, ToolContext } from "../tool.ts";

/**
 * Defines a tool by a zod schema of its arguments. The model gets the schema as JSON Schema, and
 * the arguments of each call are validated with it.
 */
export function defineTool<Schema extends z.ZodObject>(definition: {
  readonly name: string;
  readonly description: string;
  readonly args: Schema;
  readonly safeToRepeat: boolean;
  readonly run: (args: z.output<Schema>, context: ToolContext) => Promise<unknown>;
}): Tool {
  const { name, description, args: schema, safeToRepeat, run } = definition;
  return {
    name,
    description,
    safeToRepeat,
    parameters: z.toJSONSchema(schema, { target: "draft-7", io: "input" }) as Tool["parameters"],
    check(args) {
      const parsed = schema.safeParse(args);
      return parsed.success
        ? undefined
        : parsed.error.issues
            .map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`)
            .join("; ");
    },
    execute: async (args, context) => run(schema.parse(args), context),
  };
}
