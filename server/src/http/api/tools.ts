import { importHttpTool } from "../../agents/index.ts";
import type { ManagedRoute } from "../managed-route.ts";

export const toolRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/tools/http/import",
    permission: "agents:write",
    handle: async ({ ctx, body }) => ({ data: await importHttpTool({ ctx, input: { body } }) }),
  },
];
