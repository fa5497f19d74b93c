import { useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { rememberWorkspace, WorkspaceProvider } from "../data/index.ts";
import { LiveProvider } from "../live/index.ts";
import { Frame } from "./frame.tsx";

/** Provides a workspace and its live updates to all its screens. */
export function WorkspaceShell() {
  const { workspaceId } = useParams({ from: "/w/$workspaceId" });
  const [resetReason, setResetReason] = useState<string>();
  useEffect(() => rememberWorkspace(workspaceId), [workspaceId]);
  return (
    <WorkspaceProvider key={workspaceId} id={workspaceId}>
      <LiveProvider onReset={setResetReason}>
        <Frame resetReason={resetReason} dismissReset={() => setResetReason(undefined)} />
      </LiveProvider>
    </WorkspaceProvider>
  );
}
