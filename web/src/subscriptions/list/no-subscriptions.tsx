import type { ReactNode } from "react";
import { useWorkspace } from "../../data/index.ts";
import { CurlLine, EmptyState } from "../../ui/index.ts";

const body = '{"url": "https://receiver.example/hooks", "event_types": ["run.finished"]}';

/** Shown if there are no subscriptions: explains what they are for. */
export function NoSubscriptions({ action }: { readonly action: ReactNode }) {
  const { id } = useWorkspace();
  return (
    <EmptyState
      action={action}
      snippet={<CurlLine path="/subscriptions" body={body} credentialHref={`/w/${id}/keys`} />}
    >
      A subscription posts events to your server, for example the output of each run. Every request
      is signed, and repeated until your server accepts it.
    </EmptyState>
  );
}
