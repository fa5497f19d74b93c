import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { useAgent } from "../../agents/index.ts";
import { useList, useWorkspace } from "../../data/index.ts";
import { triggersQuery } from "../queries.ts";

/** Opens the first trigger if the screen is wide enough to show it beside the list. */
export function TriggersHome() {
  const workspace = useWorkspace();
  const agent = useAgent();
  const navigate = useNavigate();
  const { new: example } = useSearch({ strict: false }) as { readonly new?: string };
  const first = useList(triggersQuery(workspace, agent.id)).rows[0]?.id;
  const href = `/w/${workspace.id}/agents/${agent.id}/triggers/${first}`;
  useEffect(() => {
    if (first === undefined || !matchMedia("(min-width: 1100px)").matches) return;
    // While the form of a new trigger is open, the URL stays.
    if (example !== undefined) return;
    void navigate({ href, replace: true });
  }, [first, href, example, navigate]);
  return null;
}
