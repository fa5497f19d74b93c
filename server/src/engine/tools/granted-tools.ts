import type { ToolGrant } from "@beckon/contract";
import type { Tool } from "../tool.ts";
import { clock } from "./clock.ts";

/** How each kind of grant becomes a tool. A kind without one does not compile. */
const makers: { readonly [Kind in ToolGrant["type"]]: (grant: Extract<ToolGrant, { type: Kind }>) => Tool } = {
  clock: () => clock,
};

/** The tools of an agent: those granted, and no others. A tool granted twice is there once. */
export function grantedTools(grants: readonly ToolGrant[]): Tool[] {
  const tools = grants.map((grant) => makers[grant.type](grant));
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()];
}
