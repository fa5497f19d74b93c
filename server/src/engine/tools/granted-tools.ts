import type { ToolGrant } from "@beckon/contract";
import type { Tool } from "../tool.ts";
import { clock } from "./clock.ts";
import { httpTools, type ToolServices } from "./http/index.ts";

/**
 * The functions that create the tools of each type of grant. The type check fails if a type has no
 * function.
 */
const makers: {
  readonly [Kind in ToolGrant["type"]]: (
    grant: Extract<ToolGrant, { type: Kind }>,
    services: ToolServices,
  ) => readonly Tool[];
} = {
  clock: () => [clock],
  http: httpTools,
};

/**
 * Returns the tools granted to an agent. If several have the same name, only the last is returned.
 */
export function grantedTools(grants: readonly ToolGrant[], services: ToolServices): Tool[] {
  const tools = grants.flatMap((grant) => toolsOf(grant, services));
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()];
}

function toolsOf<Kind extends ToolGrant["type"]>(
  grant: Extract<ToolGrant, { type: Kind }>,
  services: ToolServices,
): readonly Tool[] {
  const make: (
    grant: Extract<ToolGrant, { type: Kind }>,
    services: ToolServices,
  ) => readonly Tool[] = makers[grant.type as Kind];
  return make(grant, services);
}
