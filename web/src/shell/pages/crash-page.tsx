import type { ErrorComponentProps } from "@tanstack/react-router";
import { codeOf, sentenceOf } from "../../data/index.ts";
import { Button } from "../../ui/index.ts";
import { MessagePage } from "./message-page.tsx";

/** Shown if a page cannot be loaded or has a defect. */
export function CrashPage({ error, reset }: ErrorComponentProps) {
  return (
    <MessagePage title="This page cannot be shown">
      <p role="alert">{sentenceOf(error)}</p>
      <p className="font-mono text-dense text-ink-3">{codeOf(error)}</p>
      <Button variant="primary" onClick={reset}>
        Try again
      </Button>
    </MessagePage>
  );
}
