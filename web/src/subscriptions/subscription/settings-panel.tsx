import type { Subscription } from "@beckon/client";
import { Pencil } from "lucide-react";
import { useWorkspace } from "../../data/index.ts";
import { shortenId } from "../../format/index.ts";
import { useAgentNames } from "../../runs/index.ts";
import { Badge, Button, CopyButton, Link, Panel, Term, Time } from "../../ui/index.ts";
import { useSubscriptionSearch } from "./search.ts";

/** The events that are delivered, and the URL to which they are sent. */
export function SettingsPanel({ subscription }: { readonly subscription: Subscription }) {
  const { id, whyNot } = useWorkspace();
  const { show } = useSubscriptionSearch();
  const agents = useAgentNames();
  const { url, agent_ids: agentIds, trigger_ids: triggerIds, tags } = subscription;
  const { header_names: headers, event_types: types } = subscription;
  return (
    <Panel
      title="Settings"
      actions={
        <Button
          icon={Pencil}
          size="small"
          onClick={() => show("edit")}
          disabledReason={whyNot("subscriptions:write")}
        >
          Edit
        </Button>
      }
    >
      <dl className="grid grid-cols-[5.5rem_minmax(0,1fr)] gap-x-4 gap-y-2">
        <Term name="URL">
          <span className="flex items-start gap-1">
            <span className="min-w-0 font-mono text-dense break-all">{url}</span>
            <span className="-my-1 shrink-0">
              <CopyButton text={url} what="URL" />
            </span>
          </span>
        </Term>
        <Term name="Events">
          <ul>
            {types.map((type) => (
              <li key={type} className="font-mono text-dense break-all">
                {type}
              </li>
            ))}
          </ul>
        </Term>
        <Term name="Agents">
          {agentIds === null ? (
            "All, also future ones"
          ) : (
            <ul>
              {agentIds.map((agentId) => (
                <li key={agentId}>
                  <Link href={`/w/${id}/agents/${agentId}`}>
                    <bdi>{agents.get(agentId)?.name ?? shortenId(agentId)}</bdi>
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </Term>
        {triggerIds === null ? null : (
          <Term name="Triggers">
            <ul>
              {triggerIds.map((triggerId) => (
                <li key={triggerId} className="font-mono text-dense">
                  <Link href={`/w/${id}/runs?trigger_id=${triggerId}`}>{shortenId(triggerId)}</Link>
                </li>
              ))}
            </ul>
          </Term>
        )}
        {tags === null ? null : (
          <Term name="Tags">
            <span className="flex flex-wrap gap-1">
              {tags.map((tag) => (
                <Badge key={tag}>{tag}</Badge>
              ))}
            </span>
          </Term>
        )}
        <Term name="Payload">{subscription.payload === "thin" ? "Thin: ids only" : "Full"}</Term>
        <Term name="Format">
          {subscription.format === "cloudevents" ? "CloudEvents 1.0" : "Standard Webhooks"}
        </Term>
        {headers.length === 0 ? null : (
          <Term name="Headers">
            <ul>
              {headers.map((name) => (
                <li key={name} className="font-mono text-dense break-all">
                  {name}
                  <span aria-hidden="true" className="text-ink-3">
                    : ••••••
                  </span>
                </li>
              ))}
            </ul>
          </Term>
        )}
        <Term name="Created">
          <Time value={subscription.created_at} />
        </Term>
      </dl>
    </Panel>
  );
}
