import type { Trigger } from "@beckon/client";
import type { useList } from "../../data/index.ts";
import { Badge, List, LoadMore, Row, Time } from "../../ui/index.ts";
import { useLastReceived } from "./use-last-received.ts";

interface TriggerListProps {
  readonly list: ReturnType<typeof useList<Trigger>>;
  /** Path of the list. The path of a trigger is this path and the trigger's id. */
  readonly path: string;
  readonly openId: string | undefined;
}

/** The triggers, each with its name, its state and when it last received something. */
export function TriggerList({ list, path, openId }: TriggerListProps) {
  return (
    <div className="lg:max-h-[75vh] lg:overflow-y-auto">
      <List label="Triggers">
        {list.rows.map((trigger) => (
          <TriggerRow
            key={trigger.id}
            trigger={trigger}
            href={`${path}/${trigger.id}`}
            isOpen={trigger.id === openId}
          />
        ))}
      </List>
      <LoadMore query={list} />
    </div>
  );
}

interface TriggerRowProps {
  readonly trigger: Trigger;
  readonly href: string;
  readonly isOpen: boolean;
}

function TriggerRow({ trigger, href, isOpen }: TriggerRowProps) {
  const received = useLastReceived(trigger);
  return (
    <Row
      href={href}
      current={isOpen}
      title={<span dir="auto">{trigger.name}</span>}
      detail={
        received === undefined ? (
          "\u00a0"
        ) : received === null ? (
          // For a trigger without settings, Beckon stores no requests, only the runs that they
          // start.
          trigger.receiving === null ? (
            "No runs yet"
          ) : (
            "Nothing received"
          )
        ) : (
          <>
            Received <Time value={received} />
          </>
        )
      }
      end={trigger.enabled ? undefined : <Badge tone="brass">Disabled</Badge>}
    />
  );
}
