import { importHttpToolBody } from "@beckon/contract";
import { z } from "zod";
import { importHttpTool } from "../../agents/index.ts";
import type { ManagedRoute } from "../management/index.ts";

const importedHttpTool = z.object({
  tool: z.record(z.string(), z.unknown()),
  warnings: z.array(z.string()),
});

export const toolRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/tools/http/import",
    permission: "agents:write",
    doc: {
      id: "importHttpTool",
      summary: "Make a tool of an OpenAPI document",
      description:
        "Nothing is stored or called: complete the tool with secrets and put it into an agent.",
      body: importHttpToolBody,
      data: importedHttpTool,
      example: { document: "openapi: 3.1.0\n…", operations: ["getOrder"] },
    },
    handle: async ({ ctx, body }) => ({ data: await importHttpTool({ ctx, input: { body } }) }),
  },
];
