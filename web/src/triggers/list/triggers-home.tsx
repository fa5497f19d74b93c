import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useAgent } from "../../agents/index.ts";
import { useList, useWorkspace } from "../../data/index.ts";
import { triggersQuery } from "../queries.ts";

/** Opens the first trigger if the screen is wide enough to show it beside the list. */
export function TriggersHome() {
  const workspace = useWorkspace();
  const agent = useAgent();
  const navigate = useNavigate();
  const first = useList(triggersQuery(workspace, agent.id)).rows[0]?.id;
  const href = `/w/${workspace.id}/agents/${agent.id}/triggers/${first}`;
  useEffect(() => {
    if (first === undefined || !matchMedia("(min-width: 1100px)").matches) return;
    if (new URLSearchParams(location.search).has("new")) return;
    void navigate({ href, replace: true });
  }, [first, href, navigate]);
  return null;
}
