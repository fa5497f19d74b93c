import type { ErrorComponentProps } from "@tanstack/react-router";
import { MessagePage, Problem } from "../../ui/index.ts";

/** Shown if the code of a page cannot be loaded or throws an error. */
export function CrashPage({ error, reset }: ErrorComponentProps) {
  return (
    <MessagePage title="This page cannot be shown">
      <Problem error={error} onRetry={reset} />
    </MessagePage>
  );
}
