import type { ListedRun, Trigger } from "@beckon/client";
import { ListFilter } from "lucide-react";
import { heldWhileScrolled, useList, useWorkspace } from "../../data/index.ts";
import { patched, useLiveRuns } from "../../runs/index.ts";
import {
  Button,
  type Column,
  DataTable,
  EmptyState,
  LinkButton,
  NewRowsButton,
  Panel,
  StatusMark,
  Time,
} from "../../ui/index.ts";
import { payloadLineOf } from "../input/payload.ts";
import { whyNoRun } from "../permission.ts";
import { payloadsQuery } from "../queries.ts";
import { useLivePayloads } from "./use-live-payloads.ts";

/**
 * The payloads that a trigger has received, newest first, updated live, for triggers whose
 * `receiving` is null. Beckon keeps no record of requests to such a trigger, only the runs that
 * they start. So the payloads are read from the inputs of these runs.
 */
export function PayloadsPanel({ trigger }: { readonly trigger: Trigger }) {
  const workspace = useWorkspace();
  const payloads = useList({
    ...payloadsQuery(workspace, trigger.agent_id, trigger.id),
    ...heldWhileScrolled,
  });
  const live = useLiveRuns(payloads.rows);
  const news = useLivePayloads(trigger, payloads.rows);
  return (
    <Panel
      title="Received"
      description="Each request is kept as the run that it started."
      padding="none"
      actions={
        <LinkButton
          href={`/w/${workspace.id}/runs?trigger_id=${trigger.id}`}
          icon={ListFilter}
          size="small"
        >
          All runs
        </LinkButton>
      }
    >
      <NewRowsButton
        label={news.hasNews ? "New payloads" : undefined}
        announcement="There are new payloads."
        onShow={news.show}
      />
      <DataTable
        label="Received payloads"
        columns={columnsOf(trigger.prompt_prefix)}
        rows={payloads.rows.map((run) => patched(run, live))}
        rowKey={({ id }) => id}
        rowHref={({ id }) => `/w/${workspace.id}/runs/${id}`}
        query={payloads}
        empty={
          // The curl command that posts a payload is above, beside the editor of the payload.
          <EmptyState
            action={
              <Button
                onClick={() => document.getElementById("payload")?.focus()}
                disabledReason={whyNoRun(workspace.whyNot)}
              >
                Write a test payload
              </Button>
            }
          >
            Nothing was received yet. Send a test, or post to the URL: each payload appears here
            with its run. Rejected requests are not kept.
          </EmptyState>
        }
      />
    </Panel>
  );
}

const columnsOf = (promptPrefix: string): readonly Column<ListedRun>[] => [
  {
    id: "payload",
    header: "Payload",
    cell: (run) => (
      <span dir="auto" className="font-mono text-dense">
        {payloadLineOf(run, promptPrefix) || "Empty"}
      </span>
    ),
  },
  {
    id: "outcome",
    header: "Outcome",
    width: 128,
    cell: ({ status }) => <StatusMark status={status} />,
  },
  {
    id: "received",
    header: "Received",
    width: 120,
    align: "end",
    from: "sm",
    cell: ({ created_at }) => <Time value={created_at} />,
  },
];
