import { useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { rememberWorkspace, WorkspaceProvider } from "../data/index.ts";
import { LiveProvider } from "../live/index.ts";
import { Frame } from "./frame.tsx";

/** Provides a workspace and its live updates to all its screens. */
export function WorkspaceShell() {
  const { workspaceId } = useParams({ from: "/w/$workspaceId" });
  useEffect(() => rememberWorkspace(workspaceId), [workspaceId]);
  return (
    <WorkspaceProvider key={workspaceId} id={workspaceId}>
      <LiveFrame />
    </WorkspaceProvider>
  );
}

/** Has the reason of the last reset, which the next workspace must not show. */
function LiveFrame() {
  const [resetReason, setResetReason] = useState<string>();
  return (
    <LiveProvider onReset={setResetReason}>
      <Frame resetReason={resetReason} dismissReset={() => setResetReason(undefined)} />
    </LiveProvider>
  );
}
