import type { ErrorComponentProps } from "@tanstack/react-router";
import { Problem } from "../../ui/index.ts";
import { MessagePage } from "./message-page.tsx";

/** Shown if the code of a page cannot be loaded or throws an error. */
export function CrashPage({ error, reset }: ErrorComponentProps) {
  return (
    <MessagePage title="This page cannot be shown">
      <Problem error={error} onRetry={reset} />
    </MessagePage>
  );
}
