import type { Trigger } from "@beckon/client";
import type { ReceivedRequestDetails } from "@beckon/contract";
import { CopyButton, Id } from "../../ui/index.ts";
import { ContentsPanel } from "./contents-panel.tsx";
import { OutcomeMark } from "./outcome-mark.tsx";
import { OutcomeNotice } from "./outcome-notice.tsx";
import { RequestActions } from "./request-actions.tsx";
import { EventName } from "./request-columns.tsx";
import { RequestFacts } from "./request-facts.tsx";
import { SeenPanel } from "./seen-panel.tsx";

interface RequestPageProps {
  readonly trigger: Trigger;
  readonly request: ReceivedRequestDetails;
}

/** The page of a received request that is loaded. */
export function RequestPage({ trigger, request }: RequestPageProps) {
  return (
    <>
      <header className="flex min-w-0 flex-col gap-3">
        <div className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-2">
          <div className="flex min-w-0 flex-1 basis-60 flex-wrap items-center gap-x-3 gap-y-1">
            <h2 className="min-w-0 max-w-full text-title font-semibold [&_.font-mono]:text-title">
              <EventName request={request} />
            </h2>
            <OutcomeMark outcome={request.outcome} />
            <span className="inline-flex items-center gap-1">
              <Id value={request.id} />
              <CopyButton text={request.id} what="request id" />
            </span>
          </div>
          <div className="flex flex-wrap items-center gap-2">
            <RequestActions trigger={trigger} request={request} />
          </div>
        </div>
        <RequestFacts request={request} />
      </header>
      <OutcomeNotice request={request} />
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
        <SeenPanel trigger={trigger} request={request} />
        <ContentsPanel request={request} />
      </div>
    </>
  );
}
