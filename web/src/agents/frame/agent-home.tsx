import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useAgentTabs } from "./tabs.ts";

/** Redirects from the path of an agent to its first tab. */
export function AgentHome() {
  const first = useAgentTabs().tabs[0]?.href;
  const navigate = useNavigate();
  useEffect(() => {
    if (first !== undefined) void navigate({ href: first, replace: true });
  }, [first, navigate]);
  return null;
}
