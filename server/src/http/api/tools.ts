import { importHttpToolBody } from "@beckon/contract";
import { z } from "zod";
import { importHttpTool } from "../../agents/index.ts";
import { dataOf, type ManagedRoute } from "../management/index.ts";

const importedHttpTool = z.object({
  tool: z.record(z.string(), z.unknown()),
  warnings: z.array(z.string()),
  operations: z.array(
    z.object({
      id: z.string(),
      method: z.string(),
      path: z.string(),
      name: z.string().nullable(),
    }),
  ),
});

export const toolRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/tools/http/import",
    permission: "agents:write",
    changesNothing: true,
    doc: {
      id: "importHttpTool",
      summary: "Import HTTP tool",
      description:
        "Converts an OpenAPI document to an HTTP tool. Stores and calls nothing: add the secrets and put the tool into an agent.",
      body: importHttpToolBody,
      data: importedHttpTool,
      dataExample: {
        tool: {
          type: "http",
          name: "shop",
          description: "Shop",
          allowed_hosts: ["api.example.com"],
          operations: [
            {
              name: "get_order",
              description: "Get order",
              method: "GET",
              url: "https://api.example.com/orders/{id}",
              query: {},
              headers: {},
              parameters: {
                type: "object",
                properties: { id: { type: "string" } },
                required: ["id"],
              },
            },
          ],
        },
        warnings: [],
        operations: [{ id: "getOrder", method: "GET", path: "/orders/{id}", name: "get_order" }],
      },
      example: {
        document: {
          openapi: "3.1.0",
          info: { title: "Shop", version: "1" },
          servers: [{ url: "https://api.example.com" }],
          paths: {
            "/orders/{id}": {
              get: {
                operationId: "getOrder",
                summary: "Get order",
                parameters: [
                  { name: "id", in: "path", required: true, schema: { type: "string" } },
                ],
                responses: { "200": { description: "OK" } },
              },
            },
          },
        },
        operations: ["getOrder"],
      },
    },
    handle: ({ ctx, body }) => dataOf(importHttpTool({ ctx, input: { body } })),
  },
];
