import { useQuery } from "@tanstack/react-query";
import { choosableAgentsQuery } from "../agents/index.ts";
import { useList, useWorkspace } from "../data/index.ts";
import { shortenId } from "../format/index.ts";
import { memberNamesQuery } from "../members/index.ts";

/**
 * Returns two functions. `agent` returns the name of an agent. `principal` returns the name of the
 * person or key that created a key. If the name is not known, they return the shortened id.
 */
export function useNameOf() {
  const workspace = useWorkspace();
  const { data: members } = useQuery(memberNamesQuery(workspace));
  const { rows: agents } = useList(choosableAgentsQuery(workspace));
  return {
    agent: (id: string) => agents.find((agent) => agent.id === id)?.name ?? shortenId(id),
    /** @param principal `user:<id>`, `key:<id>` or `system` */
    principal: (principal: string) => {
      const [kind = "", id = ""] = principal.split(":");
      if (kind === "user") return members?.get(id) ?? shortenId(id);
      if (kind === "key") return `Key ${shortenId(id)}`;
      return kind === "system" ? "Beckon" : principal;
    },
  };
}
